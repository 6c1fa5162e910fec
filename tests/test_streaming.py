"""A hundred thousand different schemas in one process: memory stays under its limits."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[1] / "bench"

SCRIPT = """
import json, sys
sys.path.insert(0, {bench!r})
import streaming, stencilm
tokens = [bytes([byte]) for byte in range(256)]
tokens += [bytes([a, b]) for a in range(97, 123) for b in range(97, 123)] + [b'":', b'","', None]
vocabulary = stencilm.Vocabulary.from_tokens(tokens, stop=[len(tokens) - 1], store_bytes={store})
before = streaming.resident()
found = streaming.stream(vocabulary, {count}, {cache})
print(json.dumps(found | {{"before": before, "after": streaming.resident()}}))
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is not told here")
@pytest.mark.skipif(not BENCH.is_dir(), reason="the benchmarks are not here")
def test_memory_stays_under_its_limits_while_schemas_stream_through() -> None:
    """Twenty-five matchers live on throughout; `stream` compares their masks with fresh ones."""
    store, cache = 200_000, 8 << 20
    script = SCRIPT.format(bench=str(BENCH), store=store, cache=cache, count=100_000)
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    found = json.loads(done.stdout)
    samples = found["samples"]
    assert samples[-1]["schemas"] == 100_000
    assert found["alive"] == 25
    assert all(sample["store_bytes"] <= store for sample in samples)
    assert all(sample["cache_bytes"] <= cache * 1.2 for sample in samples)
    assert samples[-1]["cache_evictions"] > 90_000
    assert samples[-1]["store_evictions"] > 1_000
    # What the first tenth took is enough for all the others; an allocator has some room of its own.
    early = max(sample["resident"] for sample in samples[:6])
    late = max(sample["resident"] for sample in samples[6:])
    assert late - early < 4 << 20
    assert found["after"] - found["before"] < store + cache + (16 << 20)

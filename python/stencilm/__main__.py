"""`python -m stencilm` is the command `stencilm`."""

from stencilm.cli import main

if __name__ == "__main__":
    main()

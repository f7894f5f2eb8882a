"""The program `litm`: python -m litm --help."""

from litm.front_door import main

if __name__ == "__main__":
    main()

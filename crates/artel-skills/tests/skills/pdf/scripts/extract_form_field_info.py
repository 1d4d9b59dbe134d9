"""extract form field info"""
import sys


def main() -> None:
    print(sys.argv[1:])


if __name__ == "__main__":
    main()

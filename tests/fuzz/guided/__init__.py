"""The page scanner under libFuzzer, which looks for pages that reach new branches of its code, with address and
undefined-behaviour sanitizers; its tree judges each page that it reads.

    python -m tests.fuzz.guided [--seconds N] [--corpus FOLDER]

It needs clang and, below Debian, libclang-rt-14-dev or its like; `target.c` is the program, `judge` what it calls for
each page.
"""

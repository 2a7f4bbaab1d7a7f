"""The command line; `commands/` holds one file for each command.

base           base classes of the commands: errors, exit codes, output
crawls         crawls named by ID, beginning of an ID, site or @last
numbers        numbers, sizes and times as types of argparse
parsers        the parsers of all commands without Django: help, version, completion, one-line errors
configuration  options of `crawl` from site-crawler.toml and the environment
usage          wrong arguments of bin/crawl, before anything is installed
crawl_options  the arguments of `crawl`, and the options made from them
inputs         credentials and rules files from the command line
list_input     a list of URLs from a file
waiting        waiting for a crawl to end; Ctrl-C and SIGTERM
doctor         what an installation lacks, and what to do
display        progress lines, tables; `progress_bar` is that of a terminal
letters        arguments that choose dead letters
pages          pages named on the command line
placement      arguments of a place in the queue
"""

"""The command line; `commands/` holds one file for each command.

base           base classes of the commands: errors, exit codes, output
crawls         crawls named by ID, beginning of an ID, site or @last
numbers        numbers, sizes and times as types of argparse
usage          the parser of bin/crawl without Django: help, version, wrong arguments
crawl_options  the arguments of `crawl`, and the options made from them
inputs         credentials and rules files from the command line
list_input     a list of URLs from a file
waiting        waiting for a crawl to end; Ctrl-C and SIGTERM
display        progress lines, tables; `progress_bar` is that of a terminal
letters        arguments that choose dead letters
pages          pages named on the command line
placement      arguments of a place in the queue
"""

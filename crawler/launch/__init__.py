"""Starting the project on one machine: what `bin/crawl`, `bin/up` and `bin/test` do.

install        .venv and the pinned packages (needs only the standard library)
speedups       compiles the page reader (needs only the standard library)
services       the Redis to use: the one that the user names, or the embedded one; migrations
embedded_redis the Redis server of a data folder
rq_environment gives `rq` and `rq-dashboard` this installation's Redis
process_group  processes that end with their parent (`watchdog` ensures it); signals that stop a command
supervisor     runs the Procfile's processes: starts and restarts them, prints their output
autoscale      as many workers as are useful
workers        RQ workers for as long as one command runs; `forked_worker` forks them from it
procfile       the Procfile's commands, in a clone and where pip installed the project
crawl, up      the two commands
manage         Django's command line with our commands
site_crawler   the command that pip installs: all of these
completion     what shells need to complete its words; `man` is its man page
worker         `bin/worker`: RQ's worker with the settings of `.env`
web_worker     gunicorn's worker, with deadlines for what clients send
rq_dashboard   RQ's dashboard on loopback, behind a password
alive          health check of a container
"""

"""Starting the project on one machine: what `bin/crawl`, `bin/up` and `bin/test` do.

install        .venv and the pinned packages (runs before any of them is there)
services       the Redis to use: a running one, or an embedded one; migrations
process_group  processes that end with the one that started them (`watchdog` ensures it); signals that end a command
supervisor     the Procfile's processes: started, shown, restarted
workers        RQ workers for as long as one command runs; `preload` starts one early
crawl, up      the two commands
worker         `bin/worker`: RQ's worker with the settings of `.env`
rq_dashboard   RQ's dashboard on loopback, behind a password
chromium       the browser the tests need
"""

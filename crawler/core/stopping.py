"""How long a worker takes to end once it was asked to (SIGTERM), and what it does with that time.

At once nothing new is begun. Pages under way may still be answered for PAGE_GRACE; then their connections are closed.
Until THREADS_GRACE a thread may still be busy with a page (it parses a long one, or waits for a name server); then it is
left behind. The rest is for what was found to be left in Redis. At STOP the process ends, whatever it is doing.

honcho and `bin/up` kill what has not ended after 5 s, Docker after 10 s: PAGE_GRACE leaves time before the first of
them. TimeoutStopSec in deploy/systemd is a little longer than STOP.
"""

from __future__ import annotations

PAGE_GRACE_SECONDS = 3.0
THREADS_GRACE_SECONDS = 8.0
STOP_SECONDS = 10.0

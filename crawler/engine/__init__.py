"""What can be done with a crawl, one verb a file.

schedules  crawls that are begun again and again, and their runs
start      check what a person typed, insert the rows, wake the manager
manage     one tick of the manager: collect results, repair leases, hand out batches, conclude
collect, repair, dispatch, conclude    the four steps of a tick
remember   use and fill the memory of answers
fetch      one fetch job: ask for the pages of its batches and leave what came of them
batches, slices, ask, permission, turns    what a fetch job is made of, from the large to the small
helping    what a fetch job does beside, while a host holds it up
equip, fetchers    give requests their credentials and their proxy
wake       send a tick, and see to it that nobody sleeps while a crawl runs
reconcile  find running crawls with no sign of life and wake them
watch      keep a lone worker at hand until something is due
announce   deliver the notices of the outbox
control    pause, resume and cancel
hosts      end what a host waits for
delete     remove a crawl and all that belongs to it
share      say who else sees a crawl or schedule, and whether it is kept
ration     hold crawls whose owner's pages of the day are used up
retention  delete crawls that were kept for long enough
retry      send dead letters again
expire     close open pages whose time is over
ending     what belongs to the end of a crawl, however it ends
patience   outlast a Redis that is away for a while
"""

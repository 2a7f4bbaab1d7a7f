"""The crawl manager.

tick              one run of the manager job: collect, recover leases, dispatch, finish
context           what one tick works with (`TickContext`)
collect           step 1: read results, commit, acknowledge (R3)
recover_leases    step 2: take back the batches of dead workers (R4)
dispatch          step 3: open pages into the ready queue, batches to fetch jobs
fetch_policy      what a batch says of its crawl's options
reach             pages that may request fewer addresses than their crawl
finish            step 4: "finished" if both completion checks agree (R6)
response_cache    use and fill the HTTP response cache
idle_poller       a job that polls while workers would be idle (R8)
limits            how many pages may still be requested
patterns          close pages that changed patterns leave out
host_waits        end a host's wait on request
add               add pages on request, and request some again
restored          notices that the database was replaced by an older one
"""

"""The container image and deploy/compose.yaml, built and run for real on one machine: `deploy/try`.

machine     programs: Debian's packages, limited times, a network namespace
engine      podman and podman-compose, with storage and settings of their own
images      the images of the services: pulled, or made of Debian's packages (stand_ins/)
site        what is crawled
checks      what must hold of containers and receipts
trial       the steps, from nothing to a finished crawl and back

It needs Python's own library only.
"""

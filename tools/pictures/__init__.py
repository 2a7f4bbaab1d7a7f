"""Pictures of every page, for people who look whether they are as they should be, and for the documentation.

__main__  the command
walk      which pages, and how a person gets there
scene     the crawls, people and settings they show
shop      a small made-up site with something of every fault
"""

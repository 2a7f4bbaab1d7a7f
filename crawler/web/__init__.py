"""The web pages: each door loads, checks, calls one verb and renders.

sharing   who else sees a crawl: in the form, on its page, and which buttons the others get
own       the doors by which an owner shares and keeps a crawl
account   a person's own page
invitations  where somebody who was invited chooses a password
metrics   the figures for Prometheus
urls      which address leads to which door
shell     what every page shares: the login, the page for a service that is down
headers   what every answer shares: the security headers
crawls    the doors of a crawl: list, start, watch
pages_table    the table of all pages of a crawl, and its rows as a file
pages_form     what the table can be asked for
pages_rows     the table's heads, cells and ways on
page_detail    all that is known of one page
crawl_list   which crawls the list shows: filters and paging
checking  the door that judges one field of the form as it is left
figures   the door to the pictures of a crawl
pictures  what they show, as values for the template
navigation   where one can go from a page
control   the doors that move a crawl: pause, resume, cancel, delete, send dead letters again
dead_letters    all the dead letters of a crawl, paged
why       why a crawl is not finished
tokens    the page of the API's tokens, and the doors that make and revoke one
schedules the page of the schedules, and the doors that pause, resume and remove one
forms     what a person may type to start a crawl
signing_in   what a crawl sends beside its URLs, typed or taken over from an earlier crawl
status    where one crawl stands, as the page shows it: one function for the template and for the JSON
login     signing in with a password or with the one-time link
health    whether the process lives and whether its services answer
"""

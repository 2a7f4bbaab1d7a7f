"""Django's settings: a module for each kind of installation.

environment              reads variables and `.env`
base, sign_in            what is common to all; log-in by other services
development, production  on one machine; where others can reach the pages
test                     of the tests
urls, wsgi, gunicorn     the routes and the web server
"""

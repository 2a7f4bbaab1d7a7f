"""Django's settings: a module for each kind of installation.

environment              reads variables and `.env`
app, base, sign_in       the app's own; what is common to all installations; log-in by other services
development, production  on one machine; where others can reach the pages
test                     of the tests
urls, wsgi, gunicorn     the routes and the web server
"""

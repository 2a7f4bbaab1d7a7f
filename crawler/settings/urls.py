"""The routes of the site."""

from django.contrib import admin
from django.urls import include, path, re_path
from django.views.generic import RedirectView

from crawler import conf
from crawler.api.middleware import api_view, not_there
from crawler.web.account.login import admin_login

admin.autodiscover()  # here, not at start-up: a worker needs no admin classes

urlpatterns = [
    path("admin/django_rq/", RedirectView.as_view(url="/admin/django_rq/dashboard/")),
    path("admin/login/", admin_login),
    path("admin/password_change/", RedirectView.as_view(pattern_name="account-password")),
    path("admin/", admin.site.urls),
    path("api/v1/", include("crawler.api.v1")),
    re_path("^api/", api_view(not_there)),
    path("", include("crawler.web.urls")),
]

if conf.uses_allauth():
    urlpatterns.insert(0, path("accounts/", include("crawler.web.account.sign_in")))

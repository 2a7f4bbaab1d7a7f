"""The web pages' addresses."""

from django.urls import path

from crawler.web import crawls, health, login

urlpatterns = [
    path("", crawls.crawl_list, name="crawl-list"),
    path("crawls/", crawls.crawl_create, name="crawl-create"),
    path("crawls/<uuid:crawl_id>/", crawls.crawl_detail, name="crawl-detail"),
    path("crawls/<uuid:crawl_id>/status", crawls.crawl_status, name="crawl-status"),
    path("crawls/<uuid:crawl_id>/export.<str:export_format>", crawls.crawl_export, name="crawl-export"),
    path("login/", login.LoginPage.as_view(), name="login"),
    path("login/<str:uidb64>/<str:token>/", login.login_link, name="login-link"),
    path("logout/", login.LogoutDoor.as_view(), name="logout"),
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
]

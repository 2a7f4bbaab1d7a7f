"""The web pages' addresses."""

from django.urls import path

from crawler.web import control, crawls, dead_letters, health, login, orphans, schedules, traps, why

urlpatterns = [
    path("", crawls.crawl_list, name="crawl-list"),
    path("crawls/", crawls.crawl_create, name="crawl-create"),
    path("crawls/<uuid:crawl_id>/", crawls.crawl_detail, name="crawl-detail"),
    path("crawls/<uuid:crawl_id>/status", crawls.crawl_status, name="crawl-status"),
    path("crawls/<uuid:crawl_id>/export.<str:export_format>", crawls.crawl_export, name="crawl-export"),
    path("crawls/<uuid:crawl_id>/why", why.crawl_why, name="crawl-why"),
    path("crawls/<uuid:crawl_id>/dead-letters", dead_letters.crawl_dead_letters, name="crawl-dead-letters"),
    path("crawls/<uuid:crawl_id>/orphans", orphans.crawl_orphans, name="crawl-orphans"),
    path("crawls/<uuid:crawl_id>/traps", traps.crawl_traps, name="crawl-traps"),
    path("crawls/<uuid:crawl_id>/release-traps", traps.crawl_release_traps, name="crawl-release-traps"),
    path("crawls/<uuid:crawl_id>/pause", control.crawl_pause, name="crawl-pause"),
    path("crawls/<uuid:crawl_id>/resume", control.crawl_resume, name="crawl-resume"),
    path("crawls/<uuid:crawl_id>/cancel", control.crawl_cancel, name="crawl-cancel"),
    path("crawls/<uuid:crawl_id>/delete", control.crawl_delete, name="crawl-delete"),
    path("crawls/<uuid:crawl_id>/retry-failed", control.crawl_retry_failed, name="crawl-retry-failed"),
    path("schedules/", schedules.schedule_list, name="schedule-list"),
    path("schedules/<uuid:schedule_id>/pause", schedules.schedule_pause, name="schedule-pause"),
    path("schedules/<uuid:schedule_id>/resume", schedules.schedule_resume, name="schedule-resume"),
    path("schedules/<uuid:schedule_id>/remove", schedules.schedule_remove, name="schedule-remove"),
    path("login/", login.LoginPage.as_view(), name="login"),
    path("login/<str:uidb64>/<str:token>/", login.login_link, name="login-link"),
    path("logout/", login.LogoutDoor.as_view(), name="logout"),
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
]

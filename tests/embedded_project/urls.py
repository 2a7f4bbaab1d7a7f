from django.urls import include, path

urlpatterns = [path("crawls/", include("crawler.urls"))]

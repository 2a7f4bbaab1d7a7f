"""How requests are sent, over connections of `crawler.http.connector`.

transport           the interface, and the usual one: HTTP/1.1 over the project's own connections
curl_transport      libcurl: `curl_transfer` for one request, `curl_lines` for its connections
curl_trust          the certificates libcurl trusts
curl_errors         errors of libcurl, translated to `crawler.http.errors`
requests_transport  the package requests
"""

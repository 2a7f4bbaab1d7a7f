"""Which pages are shells: what the frameworks' tools write, and pages that look alike and can be read as they are."""

from pathlib import Path

import pytest

from crawler.capabilities.browser.shells import FEW_LINKS, LITTLE_TEXT, MAX_NODES, NO_TEXT, Shell, reason
from crawler.core.html.document import document_of
from tests.fuzz.growth import climb
from tests.fuzz.mutation import filled

REAL_PAGES = Path(__file__).parents[2] / "data" / "pages"

GTM = """<script>(function(w,d,s,l,i){w[l]=w[l]||[];w[l].push({'gtm.start':new Date().getTime(),event:'gtm.js'});var
f=d.getElementsByTagName(s)[0],j=d.createElement(s);j.async=true;j.src='https://www.googletagmanager.com/gtm.js?id='+i;
f.parentNode.insertBefore(j,f)})(window,document,'script','dataLayer','GTM-X');</script>"""
GTM_NOSCRIPT = """<noscript><iframe src="https://www.googletagmanager.com/ns.html?id=GTM-X" height="0" width="0"
style="display:none;visibility:hidden"></iframe></noscript>"""
APP = '<script type="module" crossorigin src="/assets/index-4f2a.js"></script>'
MENU = '<nav><a href="/">Home</a><a href="/docs">Docs</a><a href="/blog">Blog</a><a href="/about">About us</a></nav>'
WORDS = "<p>" + "These words were written by the server, and can be read by anybody. " * 5 + "</p>"

SHELLS = {
    "create-react-app": (
        Shell.NOSCRIPT,
        """<!doctype html><html lang="en"><head><title>React App</title><link rel="manifest" href="/manifest.json"/>
        <script defer="defer" src="/static/js/main.1f2e.js"></script></head><body><noscript>You need to enable
        JavaScript to run this app.</noscript><div id="root"></div></body></html>""",
    ),
    "vite-react": (Shell.ROOT, f'<head><title>Vite + React</title>{APP}</head><body><div id="root"></div></body>'),
    "vite-vue": (Shell.ROOT, f'<head><title>Vite App</title>{APP}</head><body><div id="app"></div></body>'),
    "vite-svelte": (Shell.ROOT, f'<head>{APP}</head><body>\n<div id="app"></div>\n\n</body>'),
    "vue-cli": (
        Shell.NOSCRIPT,
        """<head><script defer src="/js/chunk-vendors.1.js"></script><script defer src="/js/app.2.js"></script></head>
        <body><noscript><strong>We're sorry but shop doesn't work properly without JavaScript enabled. Please
        enable it to continue.</strong></noscript><div id="app"></div></body>""",
    ),
    "angular": (
        Shell.ROOT,
        """<head><base href="/"><link rel="stylesheet" href="styles.1.css"></head><body class="mat-typography">
        <app-root></app-root><script src="polyfills.2.js" type="module"></script>
        <script src="main.3.js" type="module"></script>""",
    ),
    "angular with a spinner and a footer": (
        Shell.ROOT,
        f"""<body><app-root><div class="spinner"><svg><title>Loading</title><path d="M0 0"/></svg>Loading…</div>
        </app-root><footer>© 2026 Example. All rights reserved. <a href="/imprint">Imprint</a></footer>{APP}""",
    ),
    "angular material's plea": (
        Shell.NOSCRIPT,
        f"<app-root></app-root><noscript>Please enable JavaScript to continue using this application.</noscript>{APP}",
    ),
    "angularjs with a view": (
        Shell.ROOT,
        """<html ng-app="shop"><head><script src="angular.min.js"></script></head><body><header>My shop of fine old
        books and maps, est. 1850</header><div ng-view></div></body></html>""",
    ),
    "angularjs with placeholders": (
        Shell.ROOT,
        """<body ng-app="shop" ng-controller="List as list"><h1>{{list.title}}</h1><ul><li
        ng-repeat="item in list.items"><a href="/items/{{item.id}}">{{ item.name }}, {{ item.price }}</a></ul>
        <script src="a.js"></script>""",
    ),
    "next.js rendered by the client": (
        Shell.ROOT,
        """<head><script src="/_next/static/chunks/main-1.js" defer=""></script></head><body><div id="__next"></div>
        <script id="__NEXT_DATA__" type="application/json">{"props":{"pageProps":{}},"page":"/"}</script>""",
    ),
    "next.js app router, left to the client": (
        Shell.ROOT,
        """<body><header>Example of a shop that sells nothing at all</header><!--$!--><template
        data-dgst="BAILOUT_TO_CLIENT_SIDE_RENDERING"></template><!--/$--><script src="/_next/static/chunks/webpack-1.js"
        async=""></script><script>self.__next_f.push([1,"0:[\\"$\\",\\"main\\"]"])</script>""",
    ),
    "nuxt spa": (
        Shell.ROOT,
        """<body><div id="__nuxt"></div><div id="teleports"></div><script>window.__NUXT__={};
        window.__NUXT__.config={public:{}}</script><script type="module" src="/_nuxt/entry.1.js"></script></body>""",
    ),
    "nuxt 2 spa with its loading indicator": (
        Shell.ROOT,
        """<div id="__nuxt"><style>#nuxt-loading{visibility:hidden}</style><script>window.addEventListener('error',
        function(){var e=document.getElementById('nuxt-loading');e&&(e.className+=' error')})</script>
        <div id="nuxt-loading" aria-live="polite" role="status"><div>Loading...</div></div></div>
        <script src="/_nuxt/1.js"></script>""",
    ),
    "sveltekit spa": (
        Shell.EMPTY,
        """<body data-sveltekit-preload-data="hover"><div style="display: contents"><script>{__sveltekit_1={base:""};
        const element=document.currentScript.parentElement;Promise.all([import("/_app/immutable/entry/start.1.js"),
        import("/_app/immutable/entry/app.2.js")]).then(([kit,app])=>{kit.start(app,element)})}</script></div></body>""",
    ),
    "ember": (
        Shell.EMPTY,
        """<head><meta name="shop/config/environment" content="%7B%22modulePrefix%22%3A%22shop%22%7D"/></head><body>
        <script src="/assets/vendor-1.js"></script><script src="/assets/shop-2.js"></script>
        <div id="ember-basic-dropdown-wormhole"></div></body>""",
    ),
    "gatsby, of a route for clients only": (
        Shell.ROOT,
        """<body><div id="___gatsby"><div style="outline:none" tabindex="-1" id="gatsby-focus-wrapper"></div><div
        id="gatsby-announcer" aria-live="assertive"></div></div><script src="/app-1.js" async></script></body>""",
    ),
    "astro with one island for clients only": (
        Shell.EMPTY,
        """<body><script>(()=>{var a=async t=>{await(await t())()};(self.Astro||(self.Astro={})).only=a})()</script>
        <astro-island uid="1" component-url="/_astro/App.1.js" client="only" ssr></astro-island></body>""",
    ),
    "quasar": (Shell.ROOT, f'<body><div id="q-app"></div><!-- quasar:entry-point -->{APP}</body>'),
    "a web component": (Shell.EMPTY, f"<body><my-shop></my-shop>{APP}</body>"),
    "flutter": (Shell.EMPTY, '<body><script src="flutter_bootstrap.js" async></script></body>'),
    "htmx that loads all": (Shell.EMPTY, '<script src="htmx.js"></script><div hx-get="/x" hx-trigger="load"></div>'),
    "a splash of words": (Shell.EMPTY, f"<div class=splash><h1>Loading</h1><p>Please wait …</p></div>{APP}"),
    "a redirect by script": (Shell.EMPTY, "<script>location.replace('/new')</script>"),
    "a plea that scripts replace": (Shell.NOSCRIPT, f"<div id=x>This page requires JavaScript.</div>{APP}"),
    "german": (Shell.NOSCRIPT, f"<noscript>Bitte aktivieren Sie JavaScript.</noscript><h1>Laden</h1>{APP}"),
    "russian": (Shell.NOSCRIPT, f"<noscript>Для работы сайта включите JavaScript</noscript>{APP}"),
    "japanese": (Shell.NOSCRIPT, f"<noscript>JavaScriptを有効にしてください。</noscript>{APP}"),
    "korean": (Shell.NOSCRIPT, f"<noscript>이 앱을 실행하려면 자바스크립트를 활성화해야 합니다.</noscript>{APP}"),
    "a plea in the head": (Shell.NOSCRIPT, f"<head><noscript><p>Enable JavaScript</p></noscript>{APP}<div id=x></div>"),
    "a way out without scripts": (
        Shell.ROOT,
        f'<head><noscript><meta http-equiv="refresh" content="0; url=/nojs"></noscript></head><div id=root></div>{APP}',
    ),
    "a hidden form for netlify": (
        Shell.ROOT,
        f'<form name="contact" netlify hidden><input name="name"></form><div id="root"></div>{APP}',
    ),
    "visits are measured, too": (Shell.ROOT, f'<head>{GTM}</head><body>{GTM_NOSCRIPT}<div id="root"></div>{APP}'),
}
"""Name -> the reason and the page."""

PAGES = {
    "nothing": "",
    "few words without scripts": "<h1>It works!</h1>",
    "an empty root without scripts": '<div id="root"></div>',
    "data, but no script": '<div id="app"></div><script type="application/ld+json">{"@type":"Thing"}</script>',
    "next.js rendered by the server": (
        f'<body><div id="__next">{MENU}<main><h1>A shop</h1>{WORDS}</main></div><script id="__NEXT_DATA__" '
        'type="application/json">{}</script><script src="/_next/static/chunks/main-1.js" defer></script></body>'
    ),
    "next.js with a short page": f'<div id="__next">{MENU}<h1>Hello</h1></div><script src="/_next/main.js"></script>',
    "react that streams into a hidden part": (
        f'<body><!--$?--><template id="B:0"></template><!--/$--><div hidden id="S:0"><main>{MENU}{WORDS}</main></div>'
        '<script>$RC("B:0","S:0")</script><script src="/main.js" async></script></body>'
    ),
    "nuxt rendered by the server": (
        f'<div id="__nuxt"><div>{MENU}<article>{WORDS}</article></div></div><script type="module" src="/_nuxt/e.js">'
        "</script><script>window.__NUXT__={}</script>"
    ),
    "vue rendered by the server": f'<div id="app" data-server-rendered="true">{MENU}<h1>Tea</h1></div>{APP}',
    "sveltekit rendered by the server": (
        f'<body><div style="display: contents">{MENU}<h1>Tea</h1><script>{{kit.start(app, element)}}</script></div>'
    ),
    "gatsby": f'<div id="___gatsby"><div id="gatsby-focus-wrapper">{MENU}{WORDS}</div></div>{APP}',
    "astro with islands": (
        f'<body>{MENU}{WORDS}<astro-island client="load" component-url="/_astro/Counter.1.js"></astro-island>{APP}'
    ),
    "angular rendered by the server": f'<app-root ng-server-context="ssr">{MENU}{WORDS}</app-root>{APP}',
    "htmx": f'<script src="htmx.js"></script>{MENU}<div hx-get="/news" hx-trigger="load"></div>{WORDS}',
    "wordpress": (
        f'<body class="home">{GTM_NOSCRIPT}<header>{MENU}</header><article>{WORDS}</article><script '
        'src="/wp-includes/js/jquery/jquery.min.js"></script><script>var wpcf7 = {}</script></body>'
    ),
    "jquery": f'<script src="jquery.js"></script><h1>Tea</h1>{WORDS}<div id="app"></div><script>$(go)</script>',
    "a widget's root beside the words": f'<h1>Tea</h1>{WORDS}<div id="root"></div>{APP}',
    "a plea beside the words": f"<noscript>Please enable JavaScript for all features.</noscript>{WORDS}{APP}",
    "a plea for the comments of a short page": (
        '<h1>Tea</h1><p>It is good, and it has been so for many years.</p><script src="embed.js"></script>'
        "<noscript>Please enable JavaScript to view the "
        '<a href="https://disqus.com/?ref_noscript">comments powered by Disqus.</a></noscript>'
    ),
    "few words, measured": f"<head>{GTM}</head><body>{GTM_NOSCRIPT}<h1>Coming soon</h1></body>",
    "a picture, measured": f'{GTM}<img src="a.jpg"><noscript><img height="1" width="1" src="/pixel"></noscript>',
    "an error page": '<h1>Not found</h1><script async src="https://www.googletagmanager.com/gtag/js?id=G-X"></script>',
    "a login form": f'<form><input type="hidden" name="csrf"><input name="user"><button>Go</button></form>{APP}',
    "a login form and a plea": f"<noscript>Enable JavaScript</noscript><form><input name=user></form>{APP}",
    "a redirect by meta refresh": (
        '<meta http-equiv="refresh" content="0; url=/new/"><script>location="/new/"</script><a href="/new/">Moved</a>'
    ),
    "a redirect by meta refresh alone": f'<meta http-equiv="Refresh" content="0;URL=\'/new/\'">{APP}',
    "a choice of languages": f'<a href="/en/">English</a> <a href="/de/">Deutsch</a>{APP}',
    "frames": '<script src="a.js"></script><frameset cols="1*,4*"><frame src="a.html"><frame src="b.html"></frameset>',
    "a page around a frame": f'<iframe src="content.html"></iframe>{APP}',
    "many elements": f"{'<i></i>' * (MAX_NODES + 1)}{APP}",
}


@pytest.mark.parametrize("name", SHELLS)
def test_a_shell_is_known(name: str) -> None:
    expected, html = SHELLS[name]
    assert reason(document_of(html)) == expected


@pytest.mark.parametrize("name", PAGES)
def test_a_page_that_can_be_read_is_none(name: str) -> None:
    assert reason(document_of(PAGES[name])) == ""


def test_real_pages_are_none() -> None:
    pages = sorted(REAL_PAGES.glob("*.html"))
    assert pages
    assert {page.name: reason(document_of(page.read_bytes())) for page in pages} == {page.name: "" for page in pages}


def test_the_limits_belong_to_shells() -> None:
    links = '<a href="/x">x</a>' * FEW_LINKS
    around = f'<div id="root">{{}}</div>{"x" * (LITTLE_TEXT - NO_TEXT - FEW_LINKS)}{links}{{}}{APP}'
    assert reason(document_of(around.format("x" * NO_TEXT, ""))) == Shell.ROOT
    assert reason(document_of(around.format("x" * (NO_TEXT + 1), ""))) == ""
    assert reason(document_of(around.format("", "x" * (NO_TEXT + 1)))) == ""
    assert reason(document_of(around.format("", '<a href="/y"></a>'))) == ""


@pytest.mark.parametrize(
    "repeated",
    [b"<div id=app>", b"{{ ", b"<noscript>", b"<a href=' ' ", b"<script src=%d>", b"<svg><script>", b"<meta a=b>"],
)
def test_its_time_grows_with_the_page(repeated: bytes) -> None:
    grown = climb(
        lambda html: reason(document_of(html)), lambda size: filled(APP.encode(), repeated, b"", size), 2**18, 4
    )
    assert not grown.fault

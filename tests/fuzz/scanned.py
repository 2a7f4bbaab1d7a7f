"""What pages are made from that the page scanner reads, and what makes them odd."""

from tests.fuzz.tokens import tokens_of

_NAMES = (
    "a | address | area | b | base | body | br | button | caption | center | code | col | colgroup | custom-x | "
    "dd | desc | details | dialog | div | dl | dt | em | font | form | g | h1 | h2 | head | hr | html | i | "
    "iframe | img | input | li | link | listing | meta | noembed | noframes | noscript | object | optgroup | "
    "option | p | path | pre | rb | rp | rt | rtc | ruby | script | select | small | span | style | svg | table | "
    "tbody | td | template | textarea | tfoot | th | thead | title | tr | tt | u | ul | xmp"
)
NAMES = tuple(_NAMES.split(" | "))

CLEAN = (
    b"<html><head><template id=x><svg><path/></svg></template><title>t</title></head><body>a"
    b"<template><p>b<a href=q>c</a><form><input></form></p></template>"
    b"<div>d<template><table><tr><td>e</table></template><h1>f<template>g</template></h1></div>"
    b"<a href=z>z</a></body></html>",
    b"<!DOCTYPE html><html><head><title>t &amp; u</title><meta name=description content='d'>"
    b"<link rel=canonical href=/c></head><body><div><p>one <a href='x' rel=nofollow>two <b>three</b></a></p>"
    b"<ul><li>a<li>b</ul><table><tr><td>x</td><th>y</th></tr></table><pre>\nq</pre><h1>head <i>x</i></h1></div></body>"
    b"</html>",
    b"<p>a<p>b<dl><dt>c<dd>d</dl><form><input><button>x</button></form><select><option>a<option>b</select>"
    b"<svg><title>t</title><path d='x'/><g><path/></g></svg><a href=y><img src=z alt='w w'></a>",
    b"<html><head><noscript><link rel=next href=a></noscript><style>x{}</style><script>if(a<b)</script></head><body>"
    b"<textarea>\nx&lt;</textarea><iframe src=f>t</iframe><object data='http:x'><param></object><table>"
    b"<caption>c</caption><colgroup><col></colgroup><thead><tr><th>1</thead><tbody><tr><td>2</table>",
)

_LINKS = tokens_of(
    "<a href=q rel='ugc x'> | <a href='x&amp;y' href=z> | <a\nHREF=\"a\r\nb\"> | <a =x href=k> | <a/href=b/> | "
    "<a href=http://[> | <img alt=p> | <img src='HTTP://x/' alt=q> | <img alt> | "
    "<link rel=stylesheet href=http:/s> | <base href=/bb/> | <meta http-equiv=refresh content='0;url=r'>"
)
_REFERENCES = tokens_of(
    "&lt; | &notit; | &not | &copy=1 | &#0; | &#x80; | &#13; | &#10; | &#99999999999; | &#xd800; | &# | &#x | "
    "&nGt; | &ampx | &NotEqualTilde;"
)
_MARKUP = tokens_of(
    "<!--> | <!---> | <!-- | --!> | <!--x-- | <!x> | <?x> | <?xml a?> | </> | </ x> | <!doctype html> | "
    "<!DOCTYPE html PUBLIC 'x'> | <svg/> | <path/> | <script><!--<script>x</script>--></script> | "
    "<script><!--x</script> | <table><tr><td> | <p><table> | <title>z</title>"
)
_WHITE = (b"\r", b"\r\n", b" ", b"\n", "\xa0".encode(), "\u2003".encode(), b"\x1c")

PIECES = (
    *(f"<{slash}{name}>".encode() for name in NAMES for slash in ("", "/")),
    *_LINKS,
    *_REFERENCES,
    *_MARKUP,
    *_WHITE,
    b"words",
)

/* One pass over the UTF-8 bytes of a page: the elements that a table asks for, and the text of its body.
 *
 * It follows the HTML Standard (https://html.spec.whatwg.org/#parsing) as Lexbor implements it, and builds no tree: it
 * keeps the open elements only. A page on which more would be needed is odd, and is left to the tree: content that a
 * tree moves (foster parenting, misnested links and styles), frames, MathML. Time is linear in the size of
 * the page, because at most MAX_DEPTH elements are open; memory is at most four times the page.
 *
 * Each reason to give up is at its place in the code: `odd(s, "...")`. Names are those of the standard.
 */
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define INTERFACE 5 /* what `crawler.core.html.scanned_page` expects */
#define MAX_DEPTH 256 /* open elements */
#define MAX_PAGE (1 << 24) /* bytes */
#define MAX_WANTED 4 /* attributes of one element */
#define MAX_ATTRIBUTES 500 /* of a tag that surely has not too many */
#define MAX_TEXT 1000 /* characters of one element */
#define PICTURE_NODES 100 /* nodes of a link that are searched for a picture, with the link itself */

/* Tags: what a start tag does in the body. An end tag mirrors it. */
enum kind {
    OTHER, /* any other element */
    ODD, /* given up on */
    BLOCK, HEADING, PARAGRAPH, PRE, FORM, ITEM, TERM, BUTTON, LINK, STYLE, OBJECT, TABLE, VOID, INPUT, RULE, TEXTAREA,
    XMP, RAW, SELECT, OPTION, OPTGROUP, RUBY_BASE, RUBY_TEXT, SVG, IN_TABLE_ONLY, HEAD_VOID, HEAD_RAW, TITLE, NOSCRIPT,
    CONTENT, HTML, HEAD, BODY
};

/* What an element is among the open ones. */
enum { SPECIAL = 1, SCOPE = 2, TABLE_SCOPE = 4, IMPLIED = 8, FORMATTING = 16, MARKER = 32 };

#define TAGS(X) \
    X(A, "a", LINK, FORMATTING) X(ADDRESS, "address", BLOCK, SPECIAL) X(APPLET, "applet", ODD, 0) \
    X(AREA, "area", VOID, 0) X(ARTICLE, "article", BLOCK, SPECIAL) X(ASIDE, "aside", BLOCK, SPECIAL) \
    X(AUDIO, "audio", OTHER, 0) X(B, "b", STYLE, FORMATTING) X(BASE, "base", HEAD_VOID, 0) \
    X(BASEFONT, "basefont", HEAD_VOID, 0) X(BGSOUND, "bgsound", HEAD_VOID, 0) X(BIG, "big", STYLE, FORMATTING) \
    X(BLOCKQUOTE, "blockquote", BLOCK, SPECIAL) X(BODY_, "body", BODY, SPECIAL) X(BR, "br", VOID, 0) \
    X(BUTTON_, "button", BUTTON, SPECIAL) X(CAPTION, "caption", IN_TABLE_ONLY, SPECIAL | SCOPE | MARKER) \
    X(CENTER, "center", BLOCK, SPECIAL) X(CODE, "code", STYLE, FORMATTING) X(COL, "col", IN_TABLE_ONLY, SPECIAL) \
    X(COLGROUP, "colgroup", IN_TABLE_ONLY, SPECIAL) X(DD, "dd", TERM, SPECIAL | IMPLIED) \
    X(DESC, "desc", OTHER, 0) X(DETAILS, "details", BLOCK, SPECIAL) X(DIALOG, "dialog", BLOCK, 0) \
    X(DIR, "dir", BLOCK, SPECIAL) X(DIV, "div", BLOCK, SPECIAL) X(DL, "dl", BLOCK, SPECIAL) \
    X(DT, "dt", TERM, SPECIAL | IMPLIED) X(EM, "em", STYLE, FORMATTING) X(EMBED, "embed", VOID, 0) \
    X(FIELDSET, "fieldset", BLOCK, SPECIAL) X(FIGCAPTION, "figcaption", BLOCK, SPECIAL) \
    X(FIGURE, "figure", BLOCK, SPECIAL) X(FONT, "font", STYLE, FORMATTING) X(FOOTER, "footer", BLOCK, SPECIAL) \
    X(FOREIGNOBJECT, "foreignobject", OTHER, 0) X(FORM_, "form", FORM, SPECIAL) \
    X(FRAME, "frame", IN_TABLE_ONLY, SPECIAL) \
    X(FRAMESET, "frameset", ODD, SPECIAL) X(H1, "h1", HEADING, SPECIAL) X(H2, "h2", HEADING, SPECIAL) \
    X(H3, "h3", HEADING, SPECIAL) X(H4, "h4", HEADING, SPECIAL) X(H5, "h5", HEADING, SPECIAL) \
    X(H6, "h6", HEADING, SPECIAL) X(HEAD_, "head", HEAD, SPECIAL) X(HEADER, "header", BLOCK, SPECIAL) \
    X(HGROUP, "hgroup", BLOCK, SPECIAL) X(HR, "hr", RULE, 0) X(HTML_, "html", HTML, SPECIAL | SCOPE | TABLE_SCOPE) \
    X(I, "i", STYLE, FORMATTING) X(IFRAME, "iframe", RAW, SPECIAL) X(IMAGE, "image", ODD, SPECIAL) \
    X(IMG, "img", VOID, 0) X(INPUT_, "input", INPUT, 0) X(KEYGEN, "keygen", VOID, 0) \
    X(LI, "li", ITEM, SPECIAL | IMPLIED) X(LINK_, "link", HEAD_VOID, 0) X(LISTING, "listing", PRE, SPECIAL) \
    X(MAIN, "main", BLOCK, SPECIAL) X(MARQUEE, "marquee", ODD, 0) X(MATH, "math", ODD, 0) \
    X(MENU, "menu", BLOCK, SPECIAL) X(META, "meta", HEAD_VOID, 0) X(NAV, "nav", BLOCK, SPECIAL) \
    X(NOBR, "nobr", ODD, FORMATTING) \
    X(NOEMBED, "noembed", RAW, SPECIAL) X(NOFRAMES, "noframes", HEAD_RAW, SPECIAL) \
    X(NOSCRIPT_, "noscript", NOSCRIPT, SPECIAL) X(OBJECT_, "object", OBJECT, SPECIAL | SCOPE | MARKER) \
    X(OL, "ol", BLOCK, SPECIAL) X(OPTGROUP_, "optgroup", OPTGROUP, IMPLIED) X(OPTION_, "option", OPTION, IMPLIED) \
    X(P, "p", PARAGRAPH, SPECIAL | IMPLIED) X(PARAM, "param", VOID, 0) X(PLAINTEXT, "plaintext", ODD, 0) \
    X(PRE_, "pre", PRE, SPECIAL) X(RB, "rb", RUBY_BASE, IMPLIED) X(RP, "rp", RUBY_TEXT, IMPLIED) \
    X(RT, "rt", RUBY_TEXT, IMPLIED) X(RTC, "rtc", RUBY_BASE, IMPLIED) X(RUBY, "ruby", OTHER, 0) \
    X(S, "s", STYLE, FORMATTING) X(SCRIPT, "script", HEAD_RAW, SPECIAL) X(SEARCH, "search", BLOCK, SPECIAL) \
    X(SECTION, "section", BLOCK, SPECIAL) X(SELECT_, "select", SELECT, SPECIAL | SCOPE) \
    X(SELECTEDCONTENT, "selectedcontent", ODD, 0) \
    X(SMALL, "small", STYLE, FORMATTING) X(SOURCE, "source", VOID, 0) X(SPAN, "span", OTHER, 0) \
    X(STRIKE, "strike", STYLE, FORMATTING) X(STRONG, "strong", STYLE, FORMATTING) \
    X(STYLE_, "style", HEAD_RAW, SPECIAL) X(SUB, "sub", OTHER, 0) X(SUMMARY, "summary", BLOCK, SPECIAL) \
    X(SUP, "sup", OTHER, 0) X(SVG_, "svg", SVG, 0) \
    X(TABLE_, "table", TABLE, SPECIAL | SCOPE | TABLE_SCOPE) X(TBODY, "tbody", IN_TABLE_ONLY, SPECIAL) \
    X(TD, "td", IN_TABLE_ONLY, SPECIAL | SCOPE | MARKER) \
    X(TEMPLATE, "template", CONTENT, SPECIAL | SCOPE | TABLE_SCOPE | MARKER) \
    X(TEXTAREA_, "textarea", TEXTAREA, SPECIAL) X(TFOOT, "tfoot", IN_TABLE_ONLY, SPECIAL) \
    X(TH, "th", IN_TABLE_ONLY, SPECIAL | SCOPE | MARKER) X(THEAD, "thead", IN_TABLE_ONLY, SPECIAL) \
    X(TITLE_, "title", TITLE, SPECIAL) X(TR, "tr", IN_TABLE_ONLY, SPECIAL) X(TRACK, "track", VOID, 0) \
    X(TT, "tt", STYLE, FORMATTING) X(U, "u", STYLE, FORMATTING) X(UL, "ul", BLOCK, SPECIAL) X(VAR, "var", OTHER, 0) \
    X(VIDEO, "video", OTHER, 0) X(WBR, "wbr", VOID, 0) X(XMP_, "xmp", XMP, SPECIAL)

#define AS_ID(id, name, kind, flags) T_##id,
enum tag { T_UNKNOWN, TAGS(AS_ID) TAG_COUNT };
#undef AS_ID

typedef struct {
    const char *name;
    uint8_t length, kind, flags;
} Tag;

#define AS_ROW(id, name, kind, flags) {name, sizeof(name) - 1, kind, flags},
static const Tag TAG[TAG_COUNT] = {{"", 0, OTHER, 0}, TAGS(AS_ROW)};
#undef AS_ROW

#define SLOTS 1024 /* of the table that finds tags by name */
static uint8_t tag_in_slot[SLOTS];

/* A part of the page, or of what was decoded from it. */
enum where { ABSENT, IN_PAGE, IN_VALUES, IN_BODY };
typedef struct {
    uint32_t at, length;
    uint8_t where;
} Span;

/* What is wanted of one tag. */
typedef struct {
    uint8_t tag, needed, wanted, prefix_length; /* the first `needed` of the `wanted` attributes must be there */
    uint8_t is_link; /* it is returned as a link */
    uint16_t text; /* characters of its text; 0 = it is not read */
    char prefix[8]; /* the first attribute begins so, in any case of letters */
    char *name[MAX_WANTED]; /* of the attributes, in lower case */
    uint8_t length[MAX_WANTED];
    PyObject *key[MAX_WANTED], *tag_name;
} Row;

typedef struct {
    PyObject_HEAD
    Row row[TAG_COUNT];
    uint8_t row_count, row_of[TAG_COUNT]; /* the place of a tag's row, plus 1; 0 = it is not wanted */
    uint32_t max_tags, most_tags, max_nesting, max_nested_options, few_tags, max_options, max_copies, short_page,
        long_page; /* see `_LIMITS` */
    int alt; /* the place of this attribute in the row of pictures; -1 = it is not there */
} Scanner;

typedef struct {
    uint8_t row;
    uint32_t position; /* links before it */
    uint32_t reference; /* of a link */
    Span value[MAX_WANTED], text, picture;
} Element;

/* The references of links, up to their "#", each once: a table of contents links to one page a hundred times. */
typedef struct {
    uint64_t hash;
    Span span;
} Reference;

typedef struct {
    uint8_t tag, flags, is_foreign;
    uint32_t length; /* of the name of an unknown tag */
    const uint8_t *name;
    int32_t element; /* the one to which its text belongs; -1 = none */
    uint32_t serial;
} Open;

enum mode {
    INITIAL, BEFORE_HTML, BEFORE_HEAD, IN_HEAD, IN_HEAD_NOSCRIPT, AFTER_HEAD, IN_BODY_MODE, AFTER_BODY, IN_TABLE,
    IN_CAPTION, IN_COLUMN_GROUP, IN_TABLE_BODY, IN_ROW, IN_CELL
};

typedef struct {
    const Scanner *scanner;
    const uint8_t *page, *end;
    const char *odd; /* why the page was given up on */
    int has_cr, failed, mode, has_plain_doctype, is_self_closing, skips_newline;
    uint8_t *body, *body_end, *values, *values_end, *values_stop; /* the text of the body; decoded attributes and titles */
    Element *element;
    size_t count, room;
    Reference *reference;
    uint32_t *reference_in; /* a table of hashes; 0 = free */
    uint32_t references, slots, link_count, tags;
    int is_plain; /* the page is surely parsed as it is, see `is_parsed_whole` */
    int is_long; /* a tag with very many attributes would be dropped */
    Open open[MAX_DEPTH];
    int depth, links, paragraphs, foreign, template; /* the place of the open template; 0 = there is none */
    int mode_before; /* the template */
    uint8_t *body_before; /* the end of its text then */
    uint32_t serial, form; /* 0 = no form */
    int32_t link; /* the element of the open link; -1 = none, or not wanted */
    int link_nodes; /* within the open link, with itself */
    Span value[MAX_WANTED]; /* of the tag that was read last, as written */
    const uint8_t *tag_name; /* of that tag */
    uint32_t tag_length;
} Scan;

static void odd(Scan *s, const char *why) {
    if (!s->odd)
        s->odd = why;
}

/* Characters */

enum { BLANK = 1, LETTER = 2, DIGIT = 4, HEX = 8, ENDS_NAME = 16, ENDS_ATTRIBUTE = 32 };
static uint8_t class_of[256], lower[256];

static void classify(void) {
    for (int c = 0; c < 256; c++) {
        int letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'), digit = c >= '0' && c <= '9';
        int blank = c == ' ' || c == '\t' || c == '\n' || c == '\f' || c == '\r';
        int hex = digit || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
        int ends = blank || c == '/' || c == '>';
        class_of[c] = (uint8_t)((blank ? BLANK : 0) | (letter ? LETTER : 0) | (digit ? DIGIT : 0) | (hex ? HEX : 0) |
                                (ends ? ENDS_NAME : 0) | (ends || c == '=' ? ENDS_ATTRIBUTE : 0));
        lower[c] = (uint8_t)(c >= 'A' && c <= 'Z' ? c + 32 : c);
    }
}

static int is_blank(uint8_t c) { return class_of[c] & BLANK; }
static int is_letter(uint8_t c) { return class_of[c] & LETTER; }

static int equals(const uint8_t *text, const char *small, size_t length) {
    for (size_t at = 0; at < length; at++)
        if (lower[text[at]] != (uint8_t)small[at])
            return 0;
    return 1;
}

static uint32_t slot_of(const uint8_t *name, size_t length) {
    uint32_t first = lower[name[0]], middle = lower[name[length / 2]], last = lower[name[length - 1]];
    return (first * 131 + middle * 29 + last * 7 + (uint32_t)length * 61) & (SLOTS - 1);
}

static void index_tags(void) {
    for (int id = 1; id < TAG_COUNT; id++) {
        uint32_t slot = slot_of((const uint8_t *)TAG[id].name, TAG[id].length);
        while (tag_in_slot[slot])
            slot = (slot + 1) & (SLOTS - 1);
        tag_in_slot[slot] = (uint8_t)id;
    }
}

static int tag_of(const uint8_t *name, size_t length) {
    for (uint32_t slot = slot_of(name, length); tag_in_slot[slot]; slot = (slot + 1) & (SLOTS - 1)) {
        const Tag *tag = &TAG[tag_in_slot[slot]];
        if (tag->length == length && equals(name, tag->name, length))
            return tag_in_slot[slot];
    }
    return T_UNKNOWN;
}

/* Character references: the names of `html.entities.html5`, in order. */

typedef struct {
    char name[34], text[10];
    uint8_t name_length, text_length;
} Entity;

static Entity *entities;
static int entity_count, first_entity[257]; /* of the names that begin with this byte; its successor ends them */

static uint8_t *put_character(uint8_t *out, uint32_t c) {
    if (c < 0x80) {
        *out++ = (uint8_t)c;
    } else if (c < 0x800) {
        *out++ = (uint8_t)(0xC0 | c >> 6);
        *out++ = (uint8_t)(0x80 | (c & 63));
    } else if (c < 0x10000) {
        *out++ = (uint8_t)(0xE0 | c >> 12);
        *out++ = (uint8_t)(0x80 | (c >> 6 & 63));
        *out++ = (uint8_t)(0x80 | (c & 63));
    } else {
        *out++ = (uint8_t)(0xF0 | c >> 18);
        *out++ = (uint8_t)(0x80 | (c >> 12 & 63));
        *out++ = (uint8_t)(0x80 | (c >> 6 & 63));
        *out++ = (uint8_t)(0x80 | (c & 63));
    }
    return out;
}

/* https://html.spec.whatwg.org/#numeric-character-reference-end-state */
static uint32_t numbered(uint32_t number) {
    static const uint16_t of_windows[32] = {
        0x20AC, 0x81, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x8D,
        0x017D, 0x8F, 0x90, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A,
        0x0153, 0x9D, 0x017E, 0x0178,
    };
    if (number == 0 || number > 0x10FFFF || (number >= 0xD800 && number <= 0xDFFF))
        return 0xFFFD;
    return number >= 0x80 && number <= 0x9F ? of_windows[number - 0x80] : number;
}

/* The position behind the reference that begins with the "&" at `p`; `*out` is advanced by its text. */
static const uint8_t *put_number(const uint8_t *p, const uint8_t *end, uint8_t **out) {
    const uint8_t *at = p + 2;
    int is_hex = at < end && lower[*at] == 'x';
    uint32_t number = 0;
    at += is_hex;
    const uint8_t *digits = at;
    for (; at < end && class_of[*at] & (is_hex ? HEX : DIGIT); at++) {
        uint32_t digit = class_of[*at] & DIGIT ? (uint32_t)(*at - '0') : (uint32_t)(lower[*at] - 'a' + 10);
        number = number > 0x10FFFF ? number : number * (is_hex ? 16 : 10) + digit;
    }
    if (at == digits) {
        *(*out)++ = '&';
        return p + 1;
    }
    *out = put_character(*out, numbered(number));
    return at + (at < end && *at == ';');
}

static const Entity *longest_entity(Scan *s, const uint8_t *name, const uint8_t *end) {
    int low = name < end ? first_entity[*name] : 0, high = name < end ? first_entity[*name + 1] : 0;
    const Entity *found = NULL;
    for (size_t at = 0; low < high; at++) {
        if (entities[low].name_length == at + 1)
            found = &entities[low];
        if (name[at] == ';')
            break;
        if (name + at + 1 == end) {
            if (end == s->end)
                odd(s, "a character reference at the end");
            break;
        }
        char next = (char)name[at + 1];
        while (low < high && (entities[low].name_length <= at + 1 || entities[low].name[at + 1] < next))
            low++;
        int stop = low;
        while (stop < high && entities[stop].name[at + 1] == next)
            stop++;
        high = stop;
    }
    return found;
}

static const uint8_t *put_reference(Scan *s, const uint8_t *p, const uint8_t *end, uint8_t **out, int in_attribute) {
    if (p + 1 < end && p[1] == '#') {
        if (p + 2 == s->end)
            odd(s, "a character reference at the end");
        return put_number(p, end, out);
    }
    const Entity *entity = longest_entity(s, p + 1, end);
    const uint8_t *behind = entity ? p + 1 + entity->name_length : p + 1;
    int is_closed = entity && behind[-1] == ';';
    int goes_on = behind < end && (class_of[*behind] & (LETTER | DIGIT) || *behind == '=');
    if (!entity || (in_attribute && !is_closed && goes_on)) {
        *(*out)++ = '&';
        return p + 1;
    }
    memcpy(*out, entity->text, entity->text_length);
    *out += entity->text_length;
    return behind;
}

/* Text as it is, with line ends normalised. */
static uint8_t *put_plain(const Scan *s, uint8_t *out, const uint8_t *p, const uint8_t *end) {
    if (!s->has_cr) {
        memcpy(out, p, (size_t)(end - p));
        return out + (end - p);
    }
    for (; p < end; p++) {
        if (*p != '\r')
            *out++ = *p;
        else if (p + 1 == end || p[1] != '\n')
            *out++ = '\n';
    }
    return out;
}

/* Text with its character references decoded. Nothing becomes longer than six fifths of itself. */
static uint8_t *put_decoded(Scan *s, uint8_t *out, const uint8_t *p, const uint8_t *end, int in_attribute) {
    while (p < end) {
        const uint8_t *mark = memchr(p, '&', (size_t)(end - p));
        out = put_plain(s, out, p, mark ? mark : end);
        if (!mark)
            break;
        p = put_reference(s, mark, end, &out, in_attribute);
    }
    return out;
}

/* The same without a line end at the beginning, as at that of preformatted text. */
static uint8_t *put_without_newline(Scan *s, uint8_t *out, const uint8_t *p, const uint8_t *end) {
    uint8_t *stop = put_decoded(s, out, p, end, 0);
    if (stop == out || *out != '\n')
        return stop;
    memmove(out, out + 1, (size_t)(stop - out - 1));
    return stop - 1;
}

/* Elements */

/* Room for the decoded form of so many bytes; NULL if there is none, which no page that is read once can bring about. */
static uint8_t *values_for(Scan *s, size_t length) {
    if (length + length / 4 + 8 <= (size_t)(s->values_stop - s->values_end))
        return s->values_end;
    odd(s, "values that were read too often");
    return NULL;
}

static Span decoded_value(Scan *s, Span written) {
    const uint8_t *p = s->page + written.at, *end = p + written.length;
    if (written.where != IN_PAGE || (!s->has_cr && !memchr(p, '&', written.length)))
        return written;
    uint8_t *begin = values_for(s, written.length);
    if (!begin)
        return written;
    s->values_end = put_decoded(s, begin, p, end, 1);
    return (Span){(uint32_t)(begin - s->values), (uint32_t)(s->values_end - begin), IN_VALUES};
}

static const uint8_t *bytes_of(const Scan *s, Span span) {
    if (span.where == IN_PAGE)
        return s->page + span.at;
    return (span.where == IN_BODY ? s->body : s->values) + span.at;
}

static int begins(const Scan *s, Span value, const Row *row) {
    return value.length >= row->prefix_length && equals(bytes_of(s, value), row->prefix, row->prefix_length);
}

static uint32_t body_length(const Scan *s) { return (uint32_t)(s->body_end - s->body); }

static int grow(void **array, size_t *room, size_t size) {
    size_t more = *room ? 2 * *room : 256;
    void *moved = realloc(*array, more * size);
    if (!moved)
        return 0;
    *array = moved;
    *room = more;
    return 1;
}

static uint64_t hash_seed; /* of this process, so that no page can be made to have equal hashes */

static uint64_t hash_of(const uint8_t *p, size_t length) {
    uint64_t hash = hash_seed ^ length * 0x9E3779B97F4A7C15u;
    for (; length >= 8; p += 8, length -= 8) {
        uint64_t eight;
        memcpy(&eight, p, 8);
        hash = (hash ^ eight) * 0xFF51AFD7ED558CCDu;
        hash ^= hash >> 32;
    }
    uint64_t rest = 0;
    memcpy(&rest, p, length);
    hash = (hash ^ rest) * 0xC4CEB9FE1A85EC53u;
    return hash ^ hash >> 32;
}

/* The written reference of a link up to its "#", with it; in a drawing an <a> may have another attribute. */
static Span reference_of(const Scan *s, const Element *element) {
    Span span = element->value[element->value[0].length == 0 && element->value[1].where != ABSENT];
    const uint8_t *begin = bytes_of(s, span), *mark = memchr(begin, '#', span.length);
    if (mark)
        span.length = (uint32_t)(mark - begin) + 1;
    return span;
}

static int make_slots(Scan *s) {
    uint32_t slots = s->slots ? 2 * s->slots : 512;
    uint32_t *table = calloc(slots, sizeof(uint32_t));
    Reference *kept = realloc(s->reference, slots / 2 * sizeof(Reference));
    if (kept)
        s->reference = kept;
    if (!table || !kept) {
        free(table);
        return 0;
    }
    for (uint32_t number = 0; number < s->references; number++) {
        uint32_t slot = (uint32_t)s->reference[number].hash & (slots - 1);
        while (table[slot])
            slot = (slot + 1) & (slots - 1);
        table[slot] = number + 1;
    }
    free(s->reference_in);
    s->reference_in = table;
    s->slots = slots;
    return 1;
}

static uint32_t number_of(Scan *s, Span span) {
    const uint8_t *begin = bytes_of(s, span);
    uint64_t hash = hash_of(begin, span.length);
    if (2 * s->references >= s->slots && !make_slots(s)) {
        s->failed = 1;
        odd(s, "no memory");
        return 0;
    }
    uint32_t slot = (uint32_t)hash & (s->slots - 1);
    for (; s->reference_in[slot]; slot = (slot + 1) & (s->slots - 1)) {
        const Reference *known = &s->reference[s->reference_in[slot] - 1];
        if (known->hash == hash && known->span.length == span.length &&
            !memcmp(bytes_of(s, known->span), begin, span.length))
            return s->reference_in[slot] - 1;
    }
    s->reference[s->references] = (Reference){hash, span};
    s->reference_in[slot] = ++s->references;
    return s->references - 1;
}

/* Its place among the elements; -1 if it is not wanted. */
static int32_t record(Scan *s, int tag) {
    int place = s->scanner->row_of[tag];
    if (!place || s->template)
        return -1;
    const Row *row = &s->scanner->row[place - 1];
    for (int at = 0; at < row->needed; at++)
        if (s->value[at].where == ABSENT)
            return -1;
    Span first = {0, 0, ABSENT};
    if (row->wanted) /* else the values are those of an earlier tag */
        first = decoded_value(s, s->value[0]);
    if (row->prefix_length && !begins(s, first, row))
        return -1;
    if (s->count == s->room && !grow((void **)&s->element, &s->room, sizeof(Element))) {
        s->failed = 1;
        odd(s, "no memory");
        return -1;
    }
    Element *element = &s->element[s->count];
    element->row = (uint8_t)(place - 1);
    element->position = s->link_count;
    s->link_count += row->is_link;
    for (int at = 0; at < row->wanted; at++)
        element->value[at] = at ? decoded_value(s, s->value[at]) : first;
    element->picture.where = ABSENT;
    element->text = (Span){body_length(s), 0, IN_BODY};
    if (row->is_link)
        element->reference = number_of(s, reference_of(s, element));
    return (int32_t)s->count++;
}

/* Open elements */

static Open *current(Scan *s) { return &s->open[s->depth - 1]; }

static void count_node(Scan *s) { s->link_nodes += s->links; }

static void push(Scan *s, int tag, int32_t element) {
    if (s->depth == MAX_DEPTH) {
        odd(s, "too deep");
        return;
    }
    Open *open = &s->open[s->depth++];
    *open = (Open){.tag = (uint8_t)tag, .flags = TAG[tag].flags, .element = element, .serial = ++s->serial};
    if (tag == T_UNKNOWN) {
        open->name = s->tag_name;
        open->length = s->tag_length;
    }
    s->paragraphs += tag == T_P;
}

/* Insert an element without content. */
static int32_t insert_void(Scan *s, int tag) {
    count_node(s);
    return record(s, tag);
}

static void insert(Scan *s, int tag) { push(s, tag, insert_void(s, tag)); }

static void insert_implied(Scan *s, int tag) { /* without attributes */
    count_node(s);
    push(s, tag, -1);
}

static void drop_top(Scan *s) {
    Open *top = current(s);
    if (top->element >= 0)
        s->element[top->element].text.length = body_length(s) - s->element[top->element].text.at;
    s->paragraphs -= top->tag == T_P;
    if (top->tag == T_A && !top->is_foreign) {
        s->links = 0;
        s->link = -1;
    }
    s->depth--;
}

/* Remove the open elements from this place on. A tree opens styles and links that are not closed by their own end tag
 * again, unless the end of a cell, caption or object ends them (`ends_styles`). */
static void pop_to(Scan *s, int place, int ends_styles) {
    while (s->depth > place) {
        if (current(s)->flags & FORMATTING && s->depth - 1 > place && !ends_styles)
            odd(s, "a style or link is not closed");
        if (current(s)->tag == T_OBJECT_ && s->depth - 1 > place)
            odd(s, "an object is not closed");
        drop_top(s);
    }
}

static void generate_implied_end_tags(Scan *s, int except) {
    while (current(s)->flags & IMPLIED && current(s)->tag != except)
        drop_top(s);
}

static int is_same(const Scan *s, const Open *open, int tag) {
    if (open->tag != tag || open->is_foreign)
        return 0;
    if (tag != T_UNKNOWN)
        return 1;
    if (open->length != s->tag_length)
        return 0;
    for (uint32_t at = 0; at < open->length; at++)
        if (lower[open->name[at]] != lower[s->tag_name[at]])
            return 0;
    return 1;
}

enum scope { DEFAULT_SCOPE, BUTTON_SCOPE, LIST_SCOPE, TABLE_SCOPE_ONLY };

static int bounds(const Open *open, int scope) {
    if (scope == TABLE_SCOPE_ONLY)
        return open->flags & TABLE_SCOPE;
    return open->flags & SCOPE || (scope == BUTTON_SCOPE && open->tag == T_BUTTON_) ||
           (scope == LIST_SCOPE && (open->tag == T_OL || open->tag == T_UL));
}

/* The place of the innermost of these elements in scope; 0 = there is none, because the first is <html>. */
static int in_scope(const Scan *s, int tag, int scope) {
    for (int at = s->depth - 1; at > 0; at--) {
        if (s->open[at].tag == tag)
            return at;
        if (bounds(&s->open[at], scope))
            return 0;
    }
    return 0;
}

static int heading_in_scope(const Scan *s) {
    for (int at = s->depth - 1; at > 0; at--) {
        if (TAG[s->open[at].tag].kind == HEADING)
            return at;
        if (bounds(&s->open[at], DEFAULT_SCOPE))
            return 0;
    }
    return 0;
}

static void close_paragraph(Scan *s) {
    int place = s->paragraphs ? in_scope(s, T_P, BUTTON_SCOPE) : 0;
    if (place)
        pop_to(s, place, 0);
}

static void reset_mode(Scan *s) {
    static const struct { uint8_t tag, mode; } modes[] = {
        {T_TD, IN_CELL}, {T_TH, IN_CELL}, {T_TR, IN_ROW}, {T_TBODY, IN_TABLE_BODY}, {T_THEAD, IN_TABLE_BODY},
        {T_TFOOT, IN_TABLE_BODY}, {T_CAPTION, IN_CAPTION}, {T_COLGROUP, IN_COLUMN_GROUP}, {T_TABLE_, IN_TABLE},
        {T_BODY_, IN_BODY_MODE}, {T_TEMPLATE, IN_BODY_MODE},
    };
    for (int at = s->depth - 1; at > 0; at--)
        for (size_t row = 0; row < sizeof modes / sizeof *modes; row++)
            if (modes[row].tag == s->open[at].tag) {
                s->mode = modes[row].mode;
                return;
            }
}

static void begin_body(Scan *s) {
    s->depth = 0;
    push(s, T_HTML_, -1);
    push(s, T_BODY_, -1);
    s->mode = IN_BODY_MODE;
}

/* Tags, as written */

/* There may be a tag with so many attributes that it is dropped from a long page. */
static void may_be_crowded(Scan *s) { s->is_plain &= !s->is_long; }

/* The position behind a tag whose name ends at `p`; NULL if the page ends before it does. The values of the wanted
 * attributes are in `s->value`. */
static const uint8_t *read_attributes(Scan *s, const uint8_t *p, const Row *row) {
    const uint8_t *end = s->end;
    uint32_t names = 0;
    s->is_self_closing = 0;
    if (row)
        for (int at = 0; at < row->wanted; at++)
            s->value[at].where = ABSENT;
    for (;;) {
        for (;; p++) {
            if (p == end)
                return NULL;
            if (*p == '>')
                return p + 1;
            if (*p == '/') {
                if (p + 1 < end && p[1] == '>') {
                    s->is_self_closing = 1;
                    return p + 2;
                }
            } else if (!is_blank(*p)) {
                break;
            }
        }
        if (++names > MAX_ATTRIBUTES)
            may_be_crowded(s);
        const uint8_t *name = p++;
        while (p < end && !(class_of[*p] & ENDS_ATTRIBUTE))
            p++;
        size_t length = (size_t)(p - name);
        while (p < end && is_blank(*p))
            p++;
        if (p == end)
            return NULL;
        const uint8_t *value = p, *value_end = p;
        if (*p == '=') {
            p++;
            while (p < end && is_blank(*p))
                p++;
            if (p == end)
                return NULL;
            value = value_end = p;
            if (*p == '"' || *p == '\'') {
                value_end = memchr(p + 1, *p, (size_t)(end - p - 1));
                if (!value_end)
                    return NULL;
                value = p + 1;
                if (s->is_long && memchr(value, '>', (size_t)(value_end - value)))
                    may_be_crowded(s);
                p = value_end + 1;
            } else if (*p != '>') {
                while (p < end && *p != '>' && !is_blank(*p))
                    p++;
                if (p == end)
                    return NULL;
                value_end = p;
            }
        }
        if (!row)
            continue;
        for (int at = 0; at < row->wanted; at++) {
            if (row->length[at] != length || s->value[at].where != ABSENT || !equals(name, row->name[at], length))
                continue;
            s->value[at] = (Span){(uint32_t)(value - s->page), (uint32_t)(value_end - value), IN_PAGE};
        }
    }
}

static const uint8_t *read_name(Scan *s, const uint8_t *p) {
    s->tag_name = p;
    while (p < s->end && !(class_of[*p] & ENDS_NAME))
        p++;
    s->tag_length = (uint32_t)(p - s->tag_name);
    return p;
}

/* The "<" of the end tag of a raw text element; NULL if there is none. */
static const uint8_t *raw_end(Scan *s, const uint8_t *p, int tag) {
    size_t length = TAG[tag].length;
    int is_escaped = 0;
    while ((p = memchr(p, '<', (size_t)(s->end - p)))) {
        size_t left = (size_t)(s->end - p);
        if (left > length + 2 && p[1] == '/' && equals(p + 2, TAG[tag].name, length) &&
            class_of[p[length + 2]] & ENDS_NAME)
            return p;
        if (tag == T_SCRIPT && left > 7) {
            is_escaped |= !memcmp(p, "<!--", 4);
            if (is_escaped && equals(p + 1, "script", 6)) {
                odd(s, "a script within a comment of a script");
                return NULL;
            }
        }
        p++;
    }
    return NULL;
}

/* Note whether this part of the page, which holds no tags, has what may be taken for one. */
static void look_for_tags(Scan *s, const uint8_t *p, const uint8_t *end) {
    if (!s->is_long)
        return;
    while (p < end && (p = memchr(p, '<', (size_t)(end - p))) && ++p < end)
        if (is_letter(*p))
            may_be_crowded(s);
}

static int is_in_body(const Scan *s) { return s->mode >= IN_BODY_MODE; }

/* Read the content of a raw text element that was inserted, and its end tag. */
static const uint8_t *read_raw(Scan *s, const uint8_t *p, int tag, int32_t element) {
    const uint8_t *stop = raw_end(s, p, tag);
    if (!stop) {
        odd(s, "a raw text element is not closed");
        return s->end;
    }
    look_for_tags(s, p, stop);
    if (tag == T_SCRIPT || tag == T_STYLE_) {
        if (s->links)
            odd(s, "a script or style in a link");
    } else if (tag == T_TITLE_) {
        uint8_t *begin = values_for(s, (size_t)(stop - p));
        if (!begin)
            return s->end;
        s->values_end = put_decoded(s, begin, p, stop, 0);
        size_t length = (size_t)(s->values_end - begin);
        if (element >= 0)
            s->element[element].text = (Span){(uint32_t)(begin - s->values), (uint32_t)length, IN_VALUES};
        if (is_in_body(s)) {
            memcpy(s->body_end, begin, length);
            s->body_end += length;
        }
    } else if (is_in_body(s)) {
        if (tag == T_TEXTAREA_) {
            s->body_end = put_without_newline(s, s->body_end, p, stop);
        } else {
            for (const uint8_t *at = p; (at = memchr(at, '&', (size_t)(stop - at))); at++)
                if (stop - at > 4 && (!memcmp(at, "&nGt;", 5) || !memcmp(at, "&nLt;", 5)))
                    odd(s, "a reference that is decoded before the tree is built");
            s->body_end = put_plain(s, s->body_end, p, stop);
        }
        if (element >= 0)
            s->element[element].text.length = body_length(s) - s->element[element].text.at;
    }
    const uint8_t *behind_name = stop + 2 + TAG[tag].length;
    p = read_attributes(s, behind_name, NULL);
    if (!p) {
        odd(s, "a tag is not closed");
        return s->end;
    }
    if (p != behind_name + 1)
        may_be_crowded(s);
    return p;
}

/* Tree construction: start tags */

static void open_item(Scan *s, int tag) {
    for (int at = s->depth - 1; at > 0; at--) {
        const Open *open = &s->open[at];
        if (TAG[open->tag].kind == TAG[tag].kind) {
            pop_to(s, at, 0);
            break;
        }
        if (open->flags & SPECIAL && open->tag != T_ADDRESS && open->tag != T_DIV && open->tag != T_P)
            break;
    }
    close_paragraph(s);
    insert(s, tag);
}

static void open_link(Scan *s) {
    if (s->links) {
        odd(s, "a link in a link");
        return;
    }
    int32_t element = insert_void(s, T_A);
    push(s, T_A, element);
    s->links = 1;
    s->link = element;
    s->link_nodes = 1;
}

static void note_picture(Scan *s) {
    int alt = s->scanner->alt;
    if (alt < 0 || s->link < 0 || s->link_nodes >= PICTURE_NODES || s->element[s->link].picture.where != ABSENT)
        return;
    if (s->value[alt].where != ABSENT)
        s->element[s->link].picture = decoded_value(s, s->value[alt]);
}

static void open_table(Scan *s) {
    if (s->links)
        odd(s, "a table in a link");
    if (s->paragraphs && in_scope(s, T_P, BUTTON_SCOPE)) {
        if (!s->has_plain_doctype)
            odd(s, "a table in a paragraph, maybe in quirks mode");
        close_paragraph(s);
    }
    insert(s, T_TABLE_);
    s->mode = IN_TABLE;
}

static void pop_select(Scan *s) {
    int place = in_scope(s, T_SELECT_, DEFAULT_SCOPE);
    if (place)
        pop_to(s, place, 0);
}

static void open_option(Scan *s, int tag) {
    if (in_scope(s, T_SELECT_, DEFAULT_SCOPE))
        generate_implied_end_tags(s, tag == T_OPTION_ ? T_OPTGROUP_ : T_UNKNOWN);
    else if (current(s)->tag == T_OPTION_)
        drop_top(s);
    insert(s, tag);
}

static void open_ruby(Scan *s, int tag) {
    if (in_scope(s, T_RUBY, DEFAULT_SCOPE))
        generate_implied_end_tags(s, TAG[tag].kind == RUBY_TEXT ? T_RTC : T_UNKNOWN);
    insert(s, tag);
}

static void open_svg(Scan *s) {
    int32_t element = insert_void(s, T_SVG_);
    if (s->is_self_closing)
        return;
    push(s, T_SVG_, element);
    current(s)->is_foreign = 1;
    s->foreign++;
}

/* Its content is read like that of the body, and then forgotten: a tree keeps it apart. */
static void open_template(Scan *s) {
    int is_in_table = s->mode >= IN_TABLE && s->mode != IN_CAPTION && s->mode != IN_CELL;
    if (s->template || s->links || is_in_table)
        odd(s, "a template in a template, link or table");
    s->mode_before = s->mode;
    s->body_before = s->body_end;
    if (s->mode < IN_BODY_MODE) {
        s->depth = 0;
        push(s, T_HTML_, -1);
    }
    s->template = s->depth;
    push(s, T_TEMPLATE, -1);
    s->mode = IN_BODY_MODE;
}

static void end_template(Scan *s) {
    if (!s->template)
        return;
    pop_to(s, s->template, 1);
    s->template = 0;
    s->mode = s->mode_before;
    s->body_end = s->body_before;
}

/* https://html.spec.whatwg.org/#parsing-main-inhead: the position behind its content. */
static const uint8_t *start_in_head(Scan *s, int tag, const uint8_t *p) {
    int32_t element = insert_void(s, tag);
    return TAG[tag].kind == HEAD_VOID ? p : read_raw(s, p, tag, element);
}

/* https://html.spec.whatwg.org/#parsing-main-inbody */
static const uint8_t *start_in_body(Scan *s, int tag, const uint8_t *p) {
    switch (TAG[tag].kind) {
    case ODD:
        odd(s, TAG[tag].name);
        break;
    case IN_TABLE_ONLY:
        if (s->template)
            odd(s, "a part of a table in a template");
        break;
    case HTML: case HEAD: case BODY:
        break;
    case HEAD_VOID: case HEAD_RAW: case TITLE:
        return start_in_head(s, tag, p);
    case CONTENT:
        open_template(s);
        break;
    case BLOCK: case PARAGRAPH:
        close_paragraph(s);
        insert(s, tag);
        break;
    case HEADING:
        close_paragraph(s);
        if (TAG[current(s)->tag].kind == HEADING)
            drop_top(s);
        insert(s, tag);
        break;
    case PRE:
        close_paragraph(s);
        insert(s, tag);
        s->skips_newline = 1;
        break;
    case FORM:
        if (s->form && !s->template)
            break;
        close_paragraph(s);
        insert(s, tag);
        if (!s->template)
            s->form = s->serial;
        break;
    case ITEM: case TERM:
        open_item(s, tag);
        break;
    case BUTTON:
        if (in_scope(s, T_BUTTON_, DEFAULT_SCOPE))
            odd(s, "a button in a button");
        insert(s, tag);
        break;
    case LINK:
        open_link(s);
        break;
    case OBJECT:
        if (s->links)
            odd(s, "an object in a link");
        insert(s, tag);
        break;
    case TABLE:
        open_table(s);
        break;
    case INPUT:
        pop_select(s);
        insert_void(s, tag);
        break;
    case VOID:
        if (tag == T_IMG)
            note_picture(s);
        insert_void(s, tag);
        break;
    case RULE:
        close_paragraph(s);
        if (in_scope(s, T_SELECT_, DEFAULT_SCOPE))
            generate_implied_end_tags(s, T_UNKNOWN);
        insert_void(s, tag);
        break;
    case XMP:
        close_paragraph(s);
        return read_raw(s, p, tag, insert_void(s, tag));
    case RAW: case TEXTAREA:
        return read_raw(s, p, tag, insert_void(s, tag));
    case SELECT:
        if (in_scope(s, T_SELECT_, DEFAULT_SCOPE))
            pop_select(s);
        else
            insert(s, tag);
        break;
    case OPTION: case OPTGROUP:
        open_option(s, tag);
        break;
    case RUBY_BASE: case RUBY_TEXT:
        open_ruby(s, tag);
        break;
    case SVG:
        open_svg(s);
        break;
    default: /* OTHER, STYLE, NOSCRIPT */
        insert(s, tag);
    }
    return p;
}

static void close_cell(Scan *s, int place) {
    pop_to(s, place, 1);
    s->mode = IN_ROW;
}

static int cell_in_scope(const Scan *s) {
    int place = in_scope(s, T_TD, TABLE_SCOPE_ONLY), other = in_scope(s, T_TH, TABLE_SCOPE_ONLY);
    return place > other ? place : other;
}

/* Whether this tag ends the current cell, caption, row or body of a table, and is then to be looked at again. */
static int start_ends_part(Scan *s, int tag) {
    int is_of_table = TAG[tag].kind == IN_TABLE_ONLY && tag != T_FRAME;
    if (!is_of_table)
        return 0;
    int place;
    switch (s->mode) {
    case IN_CELL:
        if (!(place = cell_in_scope(s)))
            return 0;
        close_cell(s, place);
        return 1;
    case IN_CAPTION:
        if (!(place = in_scope(s, T_CAPTION, TABLE_SCOPE_ONLY)))
            return 0;
        pop_to(s, place, 1);
        s->mode = IN_TABLE;
        return 1;
    case IN_ROW:
        if (tag == T_TD || tag == T_TH)
            return 0;
        pop_to(s, s->depth - 1, 0);
        s->mode = IN_TABLE_BODY;
        return 1;
    case IN_TABLE_BODY:
        if (tag == T_TR || tag == T_TD || tag == T_TH)
            return 0;
        pop_to(s, s->depth - 1, 0);
        s->mode = IN_TABLE;
        return 1;
    default:
        return 0;
    }
}

/* The tag of a part of a table, in a table, its body or its row. */
static void start_part(Scan *s, int tag) {
    int is_cell = tag == T_TD || tag == T_TH;
    if (tag == T_CAPTION || tag == T_COLGROUP || tag == T_COL) {
        if (tag == T_COL) {
            insert_implied(s, T_COLGROUP);
            insert_void(s, tag);
        } else {
            insert(s, tag);
        }
        s->mode = tag == T_CAPTION ? IN_CAPTION : IN_COLUMN_GROUP;
        return;
    }
    if (s->mode == IN_TABLE) {
        int is_body = tag == T_TBODY || tag == T_THEAD || tag == T_TFOOT;
        if (is_body)
            insert(s, tag);
        else
            insert_implied(s, T_TBODY);
        s->mode = IN_TABLE_BODY;
        if (is_body)
            return;
    }
    if (s->mode == IN_TABLE_BODY) {
        if (is_cell)
            insert_implied(s, T_TR);
        else
            insert(s, tag);
        s->mode = IN_ROW;
        if (!is_cell)
            return;
    }
    insert(s, tag);
    s->mode = IN_CELL;
}

static const uint8_t *start_in_table(Scan *s, int tag, const uint8_t *p) {
    if (TAG[tag].kind == IN_TABLE_ONLY && tag != T_FRAME) {
        start_part(s, tag);
        return p;
    }
    if (tag == T_SCRIPT || tag == T_STYLE_)
        return start_in_head(s, tag, p);
    odd(s, "a table moves a tag");
    return p;
}

/* Whether the tag was dealt with before the body; else the body has begun. */
static int start_before_body(Scan *s, int tag, const uint8_t **p) {
    int kind = TAG[tag].kind;
    if (kind == ODD) { /* frames; the others begin the body */
        odd(s, TAG[tag].name);
        return 1;
    }
    if (tag == T_HTML_) {
        if (s->mode < BEFORE_HEAD)
            s->mode = BEFORE_HEAD;
        return 1;
    }
    if (s->mode < IN_HEAD) {
        s->mode = IN_HEAD;
        if (tag == T_HEAD_)
            return 1;
    }
    if (tag == T_HEAD_)
        return 1;
    if (s->mode == IN_HEAD_NOSCRIPT) {
        if (kind == NOSCRIPT)
            return 1;
        if (tag == T_BASE || kind == TITLE || tag == T_SCRIPT || (kind != HEAD_VOID && kind != HEAD_RAW))
            s->mode = IN_HEAD;
    }
    if (kind == HEAD_VOID || kind == HEAD_RAW || kind == TITLE) {
        *p = start_in_head(s, tag, *p);
        return 1;
    }
    if (kind == CONTENT) {
        open_template(s);
        return 1;
    }
    if (kind == NOSCRIPT && s->mode == IN_HEAD) {
        s->mode = IN_HEAD_NOSCRIPT;
        return 1;
    }
    begin_body(s);
    return kind == BODY;
}

static void start_in_svg(Scan *s, int tag) {
    int is_label = tag == T_TITLE_ || tag == T_DESC;
    if (current(s)->tag == T_TITLE_ || current(s)->tag == T_DESC || (tag != T_UNKNOWN && tag != T_SVG_ && !is_label)) {
        odd(s, "HTML in a drawing");
        return;
    }
    count_node(s);
    if (s->is_self_closing)
        return;
    push(s, tag, -1);
    current(s)->is_foreign = 1;
    current(s)->flags = 0;
    s->foreign++;
}

/* The page ends within a tag, which is none then. */
static const uint8_t *ends_within(Scan *s) {
    may_be_crowded(s);
    return s->end;
}

static const uint8_t *start_tag(Scan *s, const uint8_t *p) {
    const uint8_t *behind_name = read_name(s, p);
    int tag = tag_of(s->tag_name, s->tag_length), place = s->scanner->row_of[tag];
    p = read_attributes(s, behind_name, place ? &s->scanner->row[place - 1] : NULL);
    if (!p)
        return ends_within(s);
    s->skips_newline = 0;
    if (s->foreign) {
        start_in_svg(s, tag);
        return p;
    }
    if (s->mode < IN_BODY_MODE && start_before_body(s, tag, &p))
        return p;
    if (s->mode == AFTER_BODY) {
        if (tag == T_HTML_)
            return p;
        s->mode = IN_BODY_MODE;
    }
    if (s->mode == IN_COLUMN_GROUP) {
        if (tag == T_COL) {
            insert_void(s, tag);
            return p;
        }
        if (tag == T_HTML_)
            return p;
        pop_to(s, s->depth - 1, 0);
        s->mode = IN_TABLE;
    }
    while (start_ends_part(s, tag) && !s->odd) {
    }
    if (s->mode == IN_TABLE || s->mode == IN_TABLE_BODY || s->mode == IN_ROW)
        return start_in_table(s, tag, p);
    return start_in_body(s, tag, p);
}

/* Tree construction: end tags */

static void end_other(Scan *s, int tag) {
    for (int at = s->depth - 1; at > 0; at--) {
        if (is_same(s, &s->open[at], tag)) {
            pop_to(s, at, 0);
            return;
        }
        if (s->open[at].flags & SPECIAL)
            return;
    }
}

static void end_in_scope(Scan *s, int tag, int scope) {
    int place = in_scope(s, tag, scope);
    if (place)
        pop_to(s, place, 0);
}

/* https://html.spec.whatwg.org/#adoption-agency-algorithm, where nothing has to be adopted. */
static void end_style(Scan *s, int tag) {
    int is_special = 0;
    for (int at = s->depth - 1; at > 0; at--) {
        if (s->open[at].tag == tag) {
            if (is_special)
                odd(s, "a style or link ends within a block");
            pop_to(s, at, 0);
            return;
        }
        if (s->open[at].flags & MARKER)
            return;
        is_special |= s->open[at].flags & SPECIAL;
    }
}

static void end_form(Scan *s) {
    uint32_t form = s->form;
    s->form = 0;
    if (!form)
        return;
    int at = s->depth - 1;
    while (at > 0 && s->open[at].serial != form) {
        if (bounds(&s->open[at], DEFAULT_SCOPE))
            return;
        at--;
    }
    if (at == 0)
        return;
    generate_implied_end_tags(s, T_UNKNOWN);
    memmove(&s->open[at], &s->open[at + 1], (size_t)(s->depth - at - 1) * sizeof(Open));
    s->depth--;
}

static void end_in_body(Scan *s, int tag) {
    int place;
    switch (TAG[tag].kind) {
    case BODY: case HTML:
        if (in_scope(s, T_BODY_, DEFAULT_SCOPE))
            s->mode = AFTER_BODY;
        break;
    case BLOCK: case PRE: case SELECT: case BUTTON:
        end_in_scope(s, tag, DEFAULT_SCOPE);
        break;
    case PARAGRAPH:
        if (s->paragraphs && in_scope(s, T_P, BUTTON_SCOPE))
            close_paragraph(s);
        else
            count_node(s); /* an empty one is inserted */
        break;
    case FORM:
        if (s->template)
            end_in_scope(s, tag, DEFAULT_SCOPE);
        else
            end_form(s);
        break;
    case ITEM:
        end_in_scope(s, tag, LIST_SCOPE);
        break;
    case TERM:
        end_in_scope(s, tag, DEFAULT_SCOPE);
        break;
    case HEADING:
        if ((place = heading_in_scope(s)))
            pop_to(s, place, 0);
        break;
    case LINK: case STYLE:
        end_style(s, tag);
        break;
    case OBJECT:
        if ((place = in_scope(s, tag, DEFAULT_SCOPE)))
            pop_to(s, place, 1);
        break;
    case ODD:
        odd(s, "the end of an odd element");
        break;
    default:
        if (tag == T_BR)
            count_node(s);
        else
            end_other(s, tag);
    }
}

static int is_part(int tag) { return TAG[tag].kind == IN_TABLE_ONLY && tag != T_FRAME; }

/* Whether the end tag was dealt with in a part of a table. */
static int end_in_table(Scan *s, int tag) {
    int place, is_body = tag == T_TBODY || tag == T_THEAD || tag == T_TFOOT;
    for (;;) {
        switch (s->mode) {
        case IN_CELL:
            if (tag == T_TD || tag == T_TH) {
                if ((place = in_scope(s, tag, TABLE_SCOPE_ONLY)))
                    close_cell(s, place);
                return 1;
            }
            if (tag == T_TABLE_ || tag == T_TR || is_body) {
                if (!in_scope(s, tag, TABLE_SCOPE_ONLY) || !(place = cell_in_scope(s)))
                    return 1;
                close_cell(s, place);
                continue;
            }
            return is_part(tag) || TAG[tag].kind == BODY || TAG[tag].kind == HTML;
        case IN_CAPTION:
            if (tag == T_CAPTION || tag == T_TABLE_) {
                if (!(place = in_scope(s, T_CAPTION, TABLE_SCOPE_ONLY)))
                    return 1;
                pop_to(s, place, 1);
                s->mode = IN_TABLE;
                if (tag == T_CAPTION)
                    return 1;
                continue;
            }
            return is_part(tag) || TAG[tag].kind == BODY || TAG[tag].kind == HTML;
        case IN_COLUMN_GROUP:
            if (tag == T_COL)
                return 1;
            pop_to(s, s->depth - 1, 0);
            s->mode = IN_TABLE;
            if (tag == T_COLGROUP)
                return 1;
            continue;
        case IN_ROW:
            if (tag == T_TR || tag == T_TABLE_ || is_body) {
                if (is_body && !in_scope(s, tag, TABLE_SCOPE_ONLY))
                    return 1;
                pop_to(s, s->depth - 1, 0);
                s->mode = IN_TABLE_BODY;
                if (tag == T_TR)
                    return 1;
                continue;
            }
            break;
        case IN_TABLE_BODY:
            if (tag == T_TABLE_ || is_body) {
                if (is_body && !in_scope(s, tag, TABLE_SCOPE_ONLY))
                    return 1;
                pop_to(s, s->depth - 1, 0);
                s->mode = IN_TABLE;
                if (is_body)
                    return 1;
                continue;
            }
            break;
        case IN_TABLE:
            if (tag == T_TABLE_) {
                pop_to(s, s->depth - 1, 0);
                reset_mode(s);
                return 1;
            }
            break;
        default:
            return 0;
        }
        if (!is_part(tag) && TAG[tag].kind != BODY && TAG[tag].kind != HTML)
            odd(s, "a table moves the end of an element");
        return 1;
    }
}

/* Whether the tag was dealt with before the body; else the body has begun. */
static int end_before_body(Scan *s, int tag) {
    int begins_body = tag == T_BODY_ || tag == T_HTML_ || tag == T_BR;
    if (s->mode == INITIAL) /* any tag makes the document one in quirks mode */
        s->mode = BEFORE_HTML;
    if (s->mode == IN_HEAD_NOSCRIPT) {
        if (tag == T_NOSCRIPT_)
            s->mode = IN_HEAD;
        if (tag != T_BR)
            return 1;
        s->mode = IN_HEAD;
    }
    if (tag == T_HEAD_ && s->mode <= IN_HEAD) {
        s->mode = AFTER_HEAD;
        return 1;
    }
    if (TAG[tag].kind == ODD)
        odd(s, "the end of an odd element");
    if (!begins_body)
        return 1;
    begin_body(s);
    return 0;
}

static void end_in_svg(Scan *s, int tag) {
    Open *top = current(s);
    int is_same_name = top->tag == tag;
    if (is_same_name && tag == T_UNKNOWN) {
        top->is_foreign = 0;
        is_same_name = is_same(s, top, tag);
        top->is_foreign = 1;
    }
    if (!is_same_name) {
        odd(s, "a drawing with other end tags than its own");
        return;
    }
    drop_top(s);
    s->foreign--;
}

static const uint8_t *end_tag(Scan *s, const uint8_t *p) {
    const uint8_t *behind_name = read_name(s, p);
    p = read_attributes(s, behind_name, NULL);
    if (!p)
        return ends_within(s);
    if (p != behind_name + 1)
        may_be_crowded(s);
    int tag = tag_of(s->tag_name, s->tag_length);
    s->skips_newline = 0;
    if (s->foreign) {
        end_in_svg(s, tag);
        return p;
    }
    if (tag == T_TEMPLATE) {
        if (s->mode == AFTER_BODY)
            s->mode = IN_BODY_MODE;
        end_template(s);
        return p;
    }
    if (s->mode < IN_BODY_MODE && end_before_body(s, tag))
        return p;
    if (s->mode == AFTER_BODY) {
        if (tag == T_HTML_)
            return p;
        s->mode = IN_BODY_MODE;
    }
    if (s->mode >= IN_TABLE && end_in_table(s, tag))
        return p;
    end_in_body(s, tag);
    return p;
}

/* Text, comments and the rest */

static void text_before_body(Scan *s, const uint8_t *p, const uint8_t *end) {
    while (p < end && is_blank(*p))
        p++;
    if (p == end)
        return;
    if (*p == '&')
        odd(s, "a character reference before the body"); /* it may be white space */
    begin_body(s);
    s->body_end = put_decoded(s, s->body_end, p, end, 0);
}

static void text(Scan *s, const uint8_t *p, const uint8_t *end) {
    if (s->mode < IN_BODY_MODE) {
        text_before_body(s, p, end);
        return;
    }
    uint8_t *begin = s->body_end;
    s->body_end = s->skips_newline ? put_without_newline(s, begin, p, end) : put_decoded(s, begin, p, end, 0);
    s->skips_newline = 0;
    if (s->mode <= IN_BODY_MODE || s->mode == IN_CELL || s->mode == IN_CAPTION || s->foreign)
        return;
    for (const uint8_t *at = begin; at < s->body_end; at++)
        if (!is_blank(*at)) {
            if (s->mode == AFTER_BODY)
                s->mode = IN_BODY_MODE;
            else
                odd(s, "a table moves text");
            return;
        }
}

static void comment(Scan *s) {
    s->skips_newline = 0;
    if (is_in_body(s) && s->mode != AFTER_BODY)
        count_node(s);
}

static const uint8_t *behind(const Scan *s, const uint8_t *p) {
    const uint8_t *stop = p < s->end ? memchr(p, '>', (size_t)(s->end - p)) : NULL;
    return stop ? stop + 1 : s->end;
}

/* The position behind a comment, whose "<!--" ends at `p`. */
static const uint8_t *behind_comment(const Scan *s, const uint8_t *p) {
    const uint8_t *end = s->end;
    if (p < end && *p == '>')
        return p + 1;
    if (p + 1 < end && p[0] == '-' && p[1] == '>')
        return p + 2;
    while ((p = memchr(p, '-', (size_t)(end - p)))) {
        if (end - p < 3)
            break;
        if (p[1] == '-' && p[2] == '>')
            return p + 3;
        if (p[1] == '-' && p[2] == '!' && end - p > 3 && p[3] == '>')
            return p + 4;
        p++;
    }
    return end;
}

static void doctype(Scan *s, const uint8_t *p, const uint8_t *end) {
    s->skips_newline = 0;
    if (s->mode != INITIAL)
        return;
    s->mode = BEFORE_HTML;
    while (p < end && is_blank(*p))
        p++;
    if (end - p < 5 || !equals(p, "html", 4))
        return;
    for (p += 4; p < end - 1 && is_blank(*p); p++) {
    }
    s->has_plain_doctype = p == end - 1 && *p == '>';
}

static const uint8_t *read_declaration(Scan *s, const uint8_t *p) { /* at the "<!" */
    size_t left = (size_t)(s->end - p);
    if (left >= 4 && p[2] == '-' && p[3] == '-') {
        comment(s);
        return behind_comment(s, p + 4);
    }
    if (left >= 9 && equals(p + 2, "doctype", 7)) {
        const uint8_t *stop = behind(s, p + 9);
        if (stop[-1] != '>')
            odd(s, "a document type is not closed");
        doctype(s, p + 9, stop);
        return stop;
    }
    if (s->foreign && left >= 9 && !memcmp(p + 2, "[CDATA[", 7))
        odd(s, "character data in a drawing");
    comment(s);
    return behind(s, p + 2);
}

static const uint8_t *declaration(Scan *s, const uint8_t *p) {
    const uint8_t *stop = read_declaration(s, p);
    look_for_tags(s, p, stop);
    return stop;
}

static const uint8_t *bogus_comment(Scan *s, const uint8_t *p) {
    const uint8_t *stop = behind(s, p);
    comment(s);
    look_for_tags(s, p, stop);
    return stop;
}

static const uint8_t *markup(Scan *s, const uint8_t *p) { /* at a "<" */
    const uint8_t *next = p + 1;
    if (next < s->end) {
        if (is_letter(*next))
            return start_tag(s, next);
        if (*next == '!')
            return declaration(s, p);
        if (*next == '?')
            return bogus_comment(s, next + 1);
        if (*next == '/' && next + 1 < s->end) {
            if (is_letter(next[1]))
                return end_tag(s, next + 1);
            if (next[1] == '>')
                return next + 2;
            return bogus_comment(s, next + 1);
        }
        if (*next == '/')
            next++;
    }
    text(s, p, next); /* "<", or "</" at the end */
    return next;
}

/* What would change the page before its tree is built: `document.py` says why */

static int is_space(uint8_t c) { return is_blank(c) || c == '\v'; }

/* Whether it may be that the style element is left open whose name, before `p`, has so many bytes. */
static int may_be_left_open(const uint8_t *p, const uint8_t *end, size_t length) {
    const uint8_t *name = p - length;
    for (; p < end && *p != '>'; p++) {
        if (*p == '<' || *p == '"' || *p == '\'')
            return 1;
        if (*p != '=')
            continue;
        if (is_space(p[-1]) || strchr("\"'=/", p[-1]) || ++p == end || is_space(*p) || strchr("=<>", *p))
            return 1;
        if (*p == '"' || *p == '\'') {
            uint8_t quote = *p++;
            while (p < end && *p != quote && *p != '<' && *p != '>')
                p++;
            if (p == end || *p != quote)
                return 1;
        }
    }
    while (p < end && (p = memchr(p, '<', (size_t)(end - p)))) {
        const uint8_t *inner = p + 1 + (p + 1 < end && p[1] == '/'), *at = inner;
        while (at < end && is_letter(*at))
            at++;
        if (at == end || !(is_space(*at) || *at == '>'))
            return 1;
        size_t size = (size_t)(at - inner);
        if (inner == p + 2 && size == length) {
            size_t same = 0;
            while (same < size && lower[inner[same]] == lower[name[same]])
                same++;
            if (same == size)
                return 0;
        }
        if (!((size == 4 && !memcmp(inner, "span", 4)) || (size == 1 && *inner == 'a') ||
              (size == 2 && !memcmp(inner, "br", 2)) || (size == 3 && !memcmp(inner, "img", 3))))
            return 1;
        while (at < end && *at != '<' && *at != '>')
            at++;
        if (at == end || *at != '>')
            return 1;
        p = at + 1;
    }
    return 1;
}

static uint64_t styles_left_open(const Scan *s) {
    uint64_t found = 0;
    for (const uint8_t *p = s->page; p < s->end && (p = memchr(p, '<', (size_t)(s->end - p)));) {
        const uint8_t *name = ++p;
        while (p < s->end && (class_of[*p] & (LETTER | DIGIT)))
            p++;
        if (p == s->end || p == name || !(is_space(*p) || *p == '/'))
            continue;
        int tag = tag_of(name, (size_t)(p - name));
        if (TAG[tag].kind == STYLE || tag == T_NOBR)
            found += (uint64_t)may_be_left_open(p, s->end, (size_t)(p - name));
    }
    return found;
}

/* Whether few elements are nested; this is `crawler.core.html.nesting.is_shallow`, which says why it is right. */

typedef struct {
    const uint8_t *name;
    size_t length;
} Name;

static int ends_word(uint8_t c) { return is_blank(c) || c == '<' || c == '>' || c == '"' || c == '\'' || c == '='; }

/* The ">" of a tag whose attributes can be read in one way only; NULL = they cannot. */
static const uint8_t *plain_end(const uint8_t *p, const uint8_t *end) {
    while (p < end && *p != '>') {
        if (!is_blank(*p) && *p != '/')
            return NULL;
        while (p < end && (is_blank(*p) || *p == '/'))
            p++;
        const uint8_t *name = p;
        while (p < end && !ends_word(*p) && *p != '/')
            p++;
        if (p == name || p == end || *p != '=')
            continue;
        if (++p == end)
            return NULL;
        uint8_t quote = *p == '"' || *p == '\'' ? *p++ : 0;
        const uint8_t *value = p;
        while (p < end && (quote ? *p != quote && *p != '<' && *p != '>' : !ends_word(*p)))
            p++;
        if (p == end || (quote ? *p++ != quote : p == value || !(is_blank(*p) || *p == '>')))
            return NULL;
    }
    return p < end ? p : NULL;
}

static const uint8_t *found_in(const uint8_t *p, const uint8_t *end, const char *text, size_t length) {
    for (; (p = memchr(p, text[0], (size_t)(end - p))); p++) {
        if ((size_t)(end - p) < length)
            return NULL;
        if (!memcmp(p, text, length))
            return p;
    }
    return NULL;
}

/* Behind the comment, doctype or instruction at this "<!" or "<?"; NULL = it can be read in more than one way. */
static const uint8_t *plain_markup(const uint8_t *p, const uint8_t *end) {
    if (end - p >= 4 && !memcmp(p, "<!--", 4)) {
        const uint8_t *text = p + 4, *stop = found_in(text, end, "-->", 3);
        int is_empty = end - text >= 1 && (*text == '>' || (*text == '-' && end - text >= 2 && text[1] == '>'));
        return !stop || is_empty || found_in(text, stop, "--!>", 4) ? NULL : stop + 3;
    }
    if (end - p >= 9 && !memcmp(p, "<![CDATA[", 9))
        return NULL;
    p = memchr(p, '>', (size_t)(end - p));
    return p ? p + 1 : NULL;
}

/* The end tag of a script or what else has no tags in it; NULL = there is none, or it may be another one. */
static const uint8_t *plain_raw_end(const uint8_t *p, const uint8_t *end, const Tag *tag) {
    for (const uint8_t *at = p; (at = memchr(at, '<', (size_t)(end - at))); at++) {
        if (end - at > 3 && !memcmp(at, "<!--", 4))
            return NULL;
        if ((size_t)(end - at) > tag->length + 2u && at[1] == '/' && equals(at + 2, tag->name, tag->length) &&
            class_of[at[tag->length + 2]] & ENDS_NAME)
            return at;
    }
    return NULL;
}

static int is_same_name(Name one, Name other) {
    size_t at = 0;
    while (at < one.length && one.length == other.length && lower[one.name[at]] == lower[other.name[at]])
        at++;
    return at == one.length && at == other.length;
}

static int is_shallow(const uint8_t *p, const uint8_t *end, const Scanner *limits) {
    Name open[MAX_DEPTH];
    uint32_t depth = 0, foreign = 0, options = 0;
    while ((p = memchr(p, '<', (size_t)(end - p)))) {
        const uint8_t *name = p + 1;
        int is_end = name < end && *name == '/';
        name += is_end;
        if (name == end || !is_letter(*name)) {
            if (is_end)
                return 0;
            p = name < end && (*name == '!' || *name == '?') ? plain_markup(p, end) : name;
            if (!p)
                return 0;
            continue;
        }
        for (p = name; p < end && !ends_word(*p) && *p != '/';)
            p++;
        Name read = {name, (size_t)(p - name)};
        int id = tag_of(name, read.length);
        const Tag *tag = &TAG[id];
        int is_foreign = id == T_SVG_ || id == T_MATH;
        if (!(p = plain_end(p, end)))
            return 0;
        p++;
        if (is_end) {
            if (!depth || !is_same_name(open[depth - 1], read))
                continue;
            depth--;
            foreign -= (uint32_t)is_foreign;
        } else if (tag->kind == RAW || tag->kind == HEAD_RAW || tag->kind == TITLE || tag->kind == TEXTAREA ||
                   tag->kind == XMP) {
            p = foreign ? NULL : plain_raw_end(p, end, tag);
            if (!p)
                return 0;
        } else if (foreign || !(tag->kind == VOID || tag->kind == HEAD_VOID || tag->kind == INPUT ||
                                tag->kind == RULE || id == T_COL)) {
            options += id == T_OPTION_;
            if (id == T_PLAINTEXT || options > limits->max_nested_options || depth == limits->max_nesting)
                return 0;
            open[depth++] = read;
            foreign += (uint32_t)is_foreign;
        }
    }
    return 1;
}

static size_t options_in(const Scan *s) {
    size_t found = 0;
    for (const uint8_t *p = s->page; (p = memchr(p, '<', (size_t)(s->end - p))); p++)
        found += s->end - p > 6 && equals(p + 1, "option", 6);
    return found;
}

static void count_tags(Scan *s) {
    const Scanner *limits = s->scanner;
    size_t size = (size_t)(s->end - s->page), tags = 0;
    for (const uint8_t *p = s->page, *stop; p < s->end; p = stop) { /* what fits into a byte is counted in vectors */
        uint8_t few = 0;
        stop = s->end - p > 255 ? p + 255 : s->end;
        for (const uint8_t *at = p; at < stop; at++)
            few = (uint8_t)(few + (*at == '<'));
        tags += few;
    }
    if (tags > limits->max_tags && (tags > limits->most_tags || !is_shallow(s->page, s->end, limits)))
        odd(s, "too many tags");
    s->is_long = size > limits->short_page;
    s->is_plain = size <= limits->long_page;
    if (size > 6 * (size_t)limits->few_tags && tags > limits->few_tags &&
        3 * styles_left_open(s) * tags > limits->max_copies)
        s->is_plain = 0;
    if (size > 6 * (size_t)limits->few_tags && tags > limits->few_tags && options_in(s) > limits->max_options)
        odd(s, "many options");
}

static void scan(Scan *s) {
    const uint8_t *p = s->page;
    while (p < s->end && !s->odd) {
        const uint8_t *mark = memchr(p, '<', (size_t)(s->end - p));
        const uint8_t *stop = mark ? mark : s->end;
        if (stop > p)
            text(s, p, stop);
        if (!mark)
            break;
        p = markup(s, mark);
    }
    if (s->template)
        odd(s, "a template is not closed");
    while (s->depth)
        drop_top(s);
}

/* Python objects */

/* The bytes of the white space, as `str.split` sees it, at this place; 0 = there is none. */
static size_t white(const uint8_t *p, const uint8_t *end) {
    if (*p < 0x80)
        return *p == ' ' || (*p >= 0x09 && *p <= 0x0D) || (*p >= 0x1C && *p <= 0x1F);
    if (*p == 0xC2)
        return end - p > 1 && (p[1] == 0x85 || p[1] == 0xA0) ? 2 : 0;
    if (end - p < 3)
        return 0;
    uint32_t three = (uint32_t)p[0] << 16 | (uint32_t)p[1] << 8 | p[2];
    return three == 0xE19A80 || (three >= 0xE28080 && three <= 0xE2808A) || three == 0xE280A8 || three == 0xE280A9 ||
                   three == 0xE280AF || three == 0xE2819F || three == 0xE38080
               ? 3
               : 0;
}

/* At most `most` characters, white space collapsed. */
static PyObject *collapsed(const Scan *s, Span span, size_t most) {
    uint8_t kept[4 * MAX_TEXT + 8];
    const uint8_t *p = bytes_of(s, span), *end = p + span.length;
    size_t length = 0, characters = 0, blanks;
    int is_pending = 0;
    while (p < end && characters < most && length < sizeof kept - 8) {
        if ((blanks = white(p, end))) {
            is_pending = length > 0;
            p += blanks;
            continue;
        }
        if (is_pending) {
            kept[length++] = ' ';
            is_pending = 0;
            if (++characters == most)
                break;
        }
        do
            kept[length++] = *p++;
        while (p < end && (*p & 0xC0) == 0x80 && length < sizeof kept - 4);
        characters++;
    }
    return PyUnicode_DecodeUTF8((const char *)kept, (Py_ssize_t)length, NULL);
}

static PyObject *value_of(const Scan *s, Span value) {
    return PyUnicode_DecodeUTF8((const char *)bytes_of(s, value), (Py_ssize_t)value.length, NULL);
}

static PyObject *attributes_of(const Scan *s, const Element *element, const Row *row) {
    PyObject *attributes = PyDict_New();
    for (int at = 0; attributes && at < row->wanted; at++) {
        if (element->value[at].where == ABSENT)
            continue;
        PyObject *value = value_of(s, element->value[at]);
        if (!value || PyDict_SetItem(attributes, row->key[at], value) < 0)
            Py_CLEAR(attributes);
        Py_XDECREF(value);
    }
    return attributes;
}

static PyObject *text_of(const Scan *s, const Element *element, const Row *row) {
    PyObject *found = collapsed(s, element->text, row->text);
    if (found && element->picture.where != ABSENT && !PyObject_IsTrue(found)) {
        Py_DECREF(found);
        found = collapsed(s, element->picture, row->text);
    }
    return found;
}

static PyStructSequence_Field element_fields[] = {
    {"attributes", "of those that are wanted, with their values"},
    {"attrs", "the same: a node of Lexbor has both names"},
    {"tag", "in lower case"},
    {"text", "white space collapsed, cut; of a link without text, the alternative text of its first picture"},
    {"position", "the number of links before it"},
    {NULL, NULL},
};
static PyStructSequence_Desc element_description = {
    "crawler_speedups.Element", "An element of a page.", element_fields, 5,
};
static PyTypeObject *element_type;

static PyObject *object_of(const Scan *s, const Element *element) {
    const Row *row = &s->scanner->row[element->row];
    PyObject *attributes = attributes_of(s, element, row), *words = attributes ? text_of(s, element, row) : NULL;
    PyObject *made = words ? PyStructSequence_New(element_type) : NULL;
    if (!made) {
        Py_XDECREF(attributes);
        Py_XDECREF(words);
        return NULL;
    }
    PyStructSequence_SetItem(made, 0, attributes);
    PyStructSequence_SetItem(made, 1, Py_NewRef(attributes));
    PyStructSequence_SetItem(made, 2, Py_NewRef(row->tag_name));
    PyStructSequence_SetItem(made, 3, words);
    PyStructSequence_SetItem(made, 4, PyLong_FromUnsignedLong(element->position));
    return made;
}

/* Set the item of a list of this size, or clear the list. */
static void put(PyObject **list, size_t at, PyObject *item) {
    if (*list && (!item || PyList_SetItem(*list, (Py_ssize_t)at, item) < 0))
        Py_CLEAR(*list);
    else if (!*list)
        Py_XDECREF(item);
}

static PyObject *references_of(const Scan *s) {
    PyObject *references = PyList_New((Py_ssize_t)s->references);
    for (uint32_t at = 0; references && at < s->references; at++)
        put(&references, at, value_of(s, s->reference[at].span));
    return references;
}

static PyObject *result_of(const Scan *s) {
    PyObject *elements = PyList_New((Py_ssize_t)(s->count - s->link_count)), *references = references_of(s);
    PyObject *numbers = PyList_New((Py_ssize_t)s->link_count), *texts = PyList_New((Py_ssize_t)s->link_count);
    PyObject *rels = PyDict_New();
    size_t others = 0, links = 0;
    for (size_t at = 0; at < s->count && elements && numbers && texts && rels; at++) {
        const Element *element = &s->element[at];
        const Row *row = &s->scanner->row[element->row];
        if (!row->is_link) {
            put(&elements, others++, object_of(s, element));
            continue;
        }
        if (element->value[2].where != ABSENT) {
            PyObject *key = PyLong_FromSize_t(links), *rel = value_of(s, element->value[2]);
            if (!key || !rel || PyDict_SetItem(rels, key, rel) < 0)
                Py_CLEAR(rels);
            Py_XDECREF(key);
            Py_XDECREF(rel);
        }
        put(&numbers, links, PyLong_FromUnsignedLong(element->reference));
        put(&texts, links++, text_of(s, element, row));
    }
    PyObject *body = PyBytes_FromStringAndSize((const char *)s->body, (Py_ssize_t)body_length(s));
    if (elements && references && numbers && texts && rels && body)
        return Py_BuildValue("(NNNNNNi)", elements, references, numbers, texts, rels, body, s->is_plain);
    Py_XDECREF(elements);
    Py_XDECREF(references);
    Py_XDECREF(numbers);
    Py_XDECREF(texts);
    Py_XDECREF(rels);
    Py_XDECREF(body);
    return NULL;
}

static PyObject *Scanner_scan(PyObject *self, PyObject *page) {
    char *bytes;
    Py_ssize_t size;
    if (PyBytes_AsStringAndSize(page, &bytes, &size) < 0)
        return NULL;
    if (size > MAX_PAGE)
        return PyUnicode_FromString("too large");
    size_t room = (size_t)size + (size_t)size / 4 + 64;
    Scan *s = calloc(1, sizeof(Scan));
    uint8_t *body = malloc(room), *values = malloc(2 * room); /* the alt of a picture may be decoded twice */
    PyObject *result = NULL;
    if (!s || !body || !values) {
        PyErr_NoMemory();
        goto done;
    }
    s->scanner = (const Scanner *)self;
    s->page = (const uint8_t *)bytes;
    s->end = s->page + size;
    s->body = s->body_end = body;
    s->values = s->values_end = values;
    s->values_stop = values + 2 * room;
    s->link = -1;
    Py_BEGIN_ALLOW_THREADS
    s->has_cr = memchr(bytes, '\r', (size_t)size) != NULL;
    if (memchr(bytes, 0, (size_t)size))
        odd(s, "a null byte");
    else if (size >= 3 && !memcmp(bytes, "\xEF\xBB\xBF", 3))
        odd(s, "a byte order mark");
    else {
        count_tags(s);
        scan(s);
    }
    Py_END_ALLOW_THREADS
    if (s->failed)
        PyErr_NoMemory();
    else
        result = s->odd ? PyUnicode_FromString(s->odd) : result_of(s);
    if (!result && PyErr_ExceptionMatches(PyExc_UnicodeDecodeError)) {
        PyErr_Clear();
        result = PyUnicode_FromString("not UTF-8");
    }
done:
    if (s) {
        free(s->element);
        free(s->reference);
        free(s->reference_in);
    }
    free(s);
    free(body);
    free(values);
    return result;
}

static PyObject *Scanner_is_shallow(PyObject *self, PyObject *page) {
    char *bytes;
    Py_ssize_t size;
    int shallow;
    if (PyBytes_AsStringAndSize(page, &bytes, &size) < 0)
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    shallow = is_shallow((const uint8_t *)bytes, (const uint8_t *)bytes + size, (const Scanner *)self);
    Py_END_ALLOW_THREADS
    return PyBool_FromLong(shallow);
}

/* The type */

static int read_names(Scanner *self, Row *row, PyObject *names) {
    Py_ssize_t wanted = PyTuple_Size(names);
    if (wanted < 0 || wanted > MAX_WANTED || wanted < row->needed) {
        PyErr_SetString(PyExc_ValueError, "too many attributes, or too few");
        return -1;
    }
    for (Py_ssize_t at = 0; at < wanted; at++) {
        PyObject *encoded = PyUnicode_AsUTF8String(PyTuple_GetItem(names, at));
        char *name;
        Py_ssize_t length;
        if (!encoded || PyBytes_AsStringAndSize(encoded, &name, &length) < 0 || length > 20) {
            Py_XDECREF(encoded);
            return -1;
        }
        row->name[at] = malloc((size_t)length + 1);
        memcpy(row->name[at], name, (size_t)length + 1);
        row->length[at] = (uint8_t)length;
        row->key[at] = PyUnicode_InternFromString(name);
        row->wanted = (uint8_t)(at + 1);
        if (row->tag == T_IMG && !strcmp(name, "alt"))
            self->alt = (int)at;
        Py_DECREF(encoded);
    }
    return 0;
}

static int add_row(Scanner *self, PyObject *given) {
    const char *tag, *prefix;
    int needed, most, is_link;
    PyObject *names;
    if (!PyArg_ParseTuple(given, "sisO!ip", &tag, &needed, &prefix, &PyTuple_Type, &names, &most, &is_link))
        return -1;
    int id = strlen(tag) ? tag_of((const uint8_t *)tag, strlen(tag)) : T_UNKNOWN;
    if (id == T_UNKNOWN || self->row_of[id] || strlen(prefix) > 7 || most > MAX_TEXT || needed < 0 ||
        (is_link && PyTuple_Size(names) != 3)) {
        PyErr_Format(PyExc_ValueError, "no row for the tag %s", tag);
        return -1;
    }
    Row *row = &self->row[self->row_count];
    row->tag = (uint8_t)id;
    row->needed = (uint8_t)needed;
    row->is_link = (uint8_t)is_link;
    row->text = (uint16_t)most;
    row->prefix_length = (uint8_t)strlen(prefix);
    strcpy(row->prefix, prefix);
    row->tag_name = PyUnicode_InternFromString(TAG[id].name);
    self->row_of[id] = ++self->row_count;
    return read_names(self, row, names);
}

static PyObject *Scanner_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
    PyObject *table;
    (void)keywords;
    unsigned int max_tags, most_tags, max_nesting, max_nested_options, few_tags, max_options, max_copies, short_page,
        long_page;
    if (!PyArg_ParseTuple(arguments, "O!IIIIIIIII", &PyTuple_Type, &table, &max_tags, &most_tags, &max_nesting,
                          &max_nested_options, &few_tags, &max_options, &max_copies, &short_page, &long_page))
        return NULL;
    if (max_nesting > MAX_DEPTH)
        return PyErr_Format(PyExc_ValueError, "nesting of more than %d elements", MAX_DEPTH);
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    Scanner *self = (Scanner *)allocate(type, 0);
    if (self) {
        self->alt = -1;
        self->max_tags = max_tags;
        self->most_tags = most_tags;
        self->max_nesting = max_nesting;
        self->max_nested_options = max_nested_options;
        self->max_options = max_options;
        self->few_tags = few_tags;
        self->max_copies = max_copies;
        self->short_page = short_page;
        self->long_page = long_page;
    }
    for (Py_ssize_t at = 0; self && at < PyTuple_Size(table); at++)
        if (add_row(self, PyTuple_GetItem(table, at)) < 0) {
            Py_DECREF(self);
            return NULL;
        }
    return (PyObject *)self;
}

static void Scanner_dealloc(PyObject *given) {
    Scanner *self = (Scanner *)given;
    PyTypeObject *type = Py_TYPE(given);
    for (int row = 0; row < self->row_count; row++) {
        Py_XDECREF(self->row[row].tag_name);
        for (int at = 0; at < self->row[row].wanted; at++) {
            free(self->row[row].name[at]);
            Py_XDECREF(self->row[row].key[at]);
        }
    }
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(given);
    Py_DECREF(type);
}

static PyMethodDef scanner_methods[] = {
    {"scan", Scanner_scan, METH_O,
     "scan(page: bytes) -> (elements, references, numbers, texts, rels, body, is_plain) | str\n\n"
     "A str says why the page was given up on. Of each link there are the number of its reference, and its text;\n"
     "`rels` are by link. `is_plain`: no tag has to be dropped before the tree is built."},
    {"is_shallow", Scanner_is_shallow, METH_O, "is_shallow(page: bytes) -> bool\n\nWhether few elements are nested."},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot scanner_slots[] = {
    {Py_tp_new, Scanner_new}, {Py_tp_dealloc, Scanner_dealloc}, {Py_tp_methods, scanner_methods}, {0, NULL},
};
static PyType_Spec scanner_spec = {"crawler_speedups.Scanner", sizeof(Scanner), 0, Py_TPFLAGS_DEFAULT, scanner_slots};

static int add_entity(PyObject *name, PyObject *text) {
    PyObject *name_bytes = PyUnicode_AsUTF8String(name), *text_bytes = PyUnicode_AsUTF8String(text);
    char *name_at, *text_at;
    Py_ssize_t name_length, text_length;
    int is_fine = name_bytes && text_bytes && PyBytes_AsStringAndSize(name_bytes, &name_at, &name_length) == 0 &&
                  PyBytes_AsStringAndSize(text_bytes, &text_at, &text_length) == 0;
    int fits = is_fine && name_length > 0 && name_length < 34 && text_length <= 6;
    if (fits && 5 * text_length <= 6 * (name_length + 1)) {
        Entity *entity = &entities[entity_count++];
        memcpy(entity->name, name_at, (size_t)name_length);
        memcpy(entity->text, text_at, (size_t)text_length);
        entity->name_length = (uint8_t)name_length;
        entity->text_length = (uint8_t)text_length;
    } else if (is_fine) {
        PyErr_Format(PyExc_ValueError, "an entity that does not fit: %U", name);
        is_fine = 0;
    }
    Py_XDECREF(name_bytes);
    Py_XDECREF(text_bytes);
    return is_fine ? 0 : -1;
}

static int compare_entities(const void *one, const void *other) {
    return strcmp(((const Entity *)one)->name, ((const Entity *)other)->name);
}

static int read_entities(void) {
    PyObject *module = PyImport_ImportModule("html.entities");
    PyObject *known = module ? PyObject_GetAttrString(module, "html5") : NULL, *name, *text;
    Py_ssize_t position = 0;
    int failed = !known;
    if (known && !entities) {
        entities = calloc((size_t)PyDict_Size(known) + 1, sizeof(Entity));
        while (!failed && PyDict_Next(known, &position, &name, &text))
            failed = add_entity(name, text) < 0;
        qsort(entities, (size_t)entity_count, sizeof(Entity), compare_entities);
        for (int at = 0, byte = 0; byte <= 256; byte++) {
            while (at < entity_count && (uint8_t)entities[at].name[0] < byte)
                at++;
            first_entity[byte] = at;
        }
    }
    Py_XDECREF(known);
    Py_XDECREF(module);
    return failed ? -1 : 0;
}

static int draw_seed(void) {
    PyObject *text = PyUnicode_FromString("crawler_speedups");
    hash_seed = text ? (uint64_t)PyObject_Hash(text) : 0; /* of a text it depends on the process */
    Py_XDECREF(text);
    return text ? 0 : -1;
}

static int execute(PyObject *module) {
    classify();
    if (!tag_in_slot[slot_of((const uint8_t *)"a", 1)])
        index_tags();
    PyObject *type = PyType_FromSpec(&scanner_spec);
    if (!element_type)
        element_type = PyStructSequence_NewType(&element_description);
    int failed = !type || !element_type || read_entities() < 0 || draw_seed() < 0 ||
                 PyModule_AddObjectRef(module, "Scanner", type) < 0 ||
                 PyModule_AddIntConstant(module, "INTERFACE", INTERFACE) < 0;
    Py_XDECREF(type);
    return failed ? -1 : 0;
}

static PyModuleDef_Slot module_slots[] = {{Py_mod_exec, execute}, {0, NULL}};
static PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "crawler_speedups",
    .m_doc = "Reads pages in one compiled pass.",
    .m_slots = module_slots,
};

PyMODINIT_FUNC PyInit_crawler_speedups(void) { return PyModuleDef_Init(&definition); }

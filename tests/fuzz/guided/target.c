/* libFuzzer's entry points: a Python with the page scanner built in, so that its branches are seen and its memory is
 * watched, and the judge that compares it with the tree. */
#include "../../../speedups/page_scanner.c"

static PyObject *judged;

int LLVMFuzzerInitialize(int *count, char ***arguments) {
    (void)count;
    (void)arguments;
    PyImport_AppendInittab("crawler_speedups", PyInit_crawler_speedups);
    Py_Initialize();
    PyObject *module = PyImport_ImportModule("tests.fuzz.guided.judge");
    judged = module ? PyObject_GetAttrString(module, "judged") : NULL;
    if (!judged) {
        PyErr_Print();
        abort();
    }
    Py_DECREF(module);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    PyObject *result = PyObject_CallFunction(judged, "y#", (const char *)data, (Py_ssize_t)size);
    if (!result) {
        PyErr_Print();
        abort(); /* the input is kept */
    }
    Py_DECREF(result);
    return 0;
}

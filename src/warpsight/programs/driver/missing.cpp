// Every other function of the driver: named when a program calls it, and an error. Without the driver's header, since
// these have one form here and many there.
#define WS_API extern "C" __attribute__((visibility("default")))

namespace driver {
int missing_here(const char *name);
}

#define MISSING(name) \
    WS_API int name() { return driver::missing_here(#name); }
#include "missing.def"
#undef MISSING

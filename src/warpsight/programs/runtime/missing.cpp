// Every other function of the runtime: named when a program calls it, and an error. Without the runtime's header, since
// these have one form here and many there.
#define WS_API extern "C" __attribute__((visibility("default")))

namespace stand_in {
enum Error : int;
Error missing(const char *name);
}  // namespace stand_in

#define MISSING(name) \
    WS_API int name() { return (int)stand_in::missing(#name); }
#include "missing.def"
#undef MISSING

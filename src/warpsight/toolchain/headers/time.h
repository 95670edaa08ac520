// The compiler knows clock_t and clock by itself.
#pragma once

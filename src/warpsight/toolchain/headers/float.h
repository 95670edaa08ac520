// Limits of float and double.
#pragma once
#include <cuda/std/cfloat>

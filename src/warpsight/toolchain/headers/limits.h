// Limits of whole numbers.
#pragma once
#include <cuda/std/climits>

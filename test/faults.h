/* The allocator that fails on demand, which the program's own conformance checks use as well. */
#include "conformance/faults.h"

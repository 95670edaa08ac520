// bool is a word of C++.
#pragma once

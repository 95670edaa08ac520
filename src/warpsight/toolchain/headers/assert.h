// The compiler knows assert by itself.
#pragma once

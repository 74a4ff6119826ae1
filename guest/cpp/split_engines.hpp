/* SPDX-License-Identifier: MIT */
// Precedes a test in C++ that uses an engine of <random>: if it is seeded with nothing, or with the time, its seed is a number
// that only the judge's process has (fh_split_engine_seed in guest/cpp/split_codec.hpp).
#include <random>
extern "C" unsigned long fh_split_engine_seed(unsigned long seed, unsigned long usual);
#define FH_SPLIT_ENGINE(type, name)                                                                                       \
	template <> inline std::type::name()                                                                                   \
	{                                                                                                                      \
		seed(static_cast<result_type>(fh_split_engine_seed(default_seed, default_seed)));                                   \
	}                                                                                                                      \
	template <> inline std::type::name(result_type value)                                                                  \
	{                                                                                                                      \
		seed(static_cast<result_type>(fh_split_engine_seed(value, default_seed)));                                          \
	}
FH_SPLIT_ENGINE(mt19937, mersenne_twister_engine)
FH_SPLIT_ENGINE(mt19937_64, mersenne_twister_engine)
FH_SPLIT_ENGINE(minstd_rand0, linear_congruential_engine)
FH_SPLIT_ENGINE(minstd_rand, linear_congruential_engine)
FH_SPLIT_ENGINE(ranlux24_base, subtract_with_carry_engine)
FH_SPLIT_ENGINE(ranlux48_base, subtract_with_carry_engine)
#undef FH_SPLIT_ENGINE

/* SPDX-License-Identifier: MIT */
// std::any and boost::any for split_codec.hpp: the types of a fixed list can cross, each by its number in the list. Follows the
// declaration, whose #include decides which of the two exists.
#if __cplusplus >= 201703L
#include <any>
#endif
#include <list>
#include <string>
#include <vector>

namespace fh_split {

// Any: std::any or boost::any. Cast: the any_cast that belongs to it, as Cast<T>::of(const Any *).
template <class Any, template <class> class Cast, class... Types> struct any_codec {
	template <class T> static bool put_one(writer &w, const Any &v, unsigned char &i)
	{
		i++;
		const T *p = Cast<T>::of(&v);
		if (!p)
			return false;
		w.raw(&i, 1);
		codec<T>::put(w, *p);
		return true;
	}
	template <class T> static bool get_one(reader &r, Any &v, unsigned char at, unsigned char &i)
	{
		if (at != ++i)
			return false;
		v = codec<T>::get(r);
		return true;
	}
	// 0: it is empty.
	static void put_some(writer &w, const Any &v, bool empty)
	{
		unsigned char i = 0;
		if (++w.depth > depth_max)
			w.full = true;
		if (empty)
			w.raw(&i, 1);
		bool done = empty;
		bool order[] = { done, (done = done || w.full || put_one<Types>(w, v, i))... };
		(void)order;
		w.depth--;
		w.full = w.full || !done;
	}
	static Any get(reader &r)
	{
		Any v;
		unsigned char at, i = 0;
		if (++r.depth > depth_max)
			throw broken();
		r.raw(&at, 1);
		bool done = at == 0;
		bool order[] = { done, (done = done || get_one<Types>(r, v, at, i))... };
		(void)order;
		if (!done)
			throw broken();
		r.depth--;
		return v;
	}
};

template <class Any, template <class> class Cast>
using any_of_list =
    any_codec<Any, Cast, int, double, std::string, char, bool, float, long, long long, unsigned, unsigned long,
              unsigned long long, short, unsigned char, long double, const char *, std::vector<int>, std::vector<double>,
              std::vector<std::string>, std::vector<Any>, std::list<Any>>;

#ifdef BOOST_ANY_INCLUDED
template <class T> struct boost_cast {
	static const T *of(const boost::any *v)
	{
		return boost::any_cast<T>(v);
	}
};
template <> struct codec<boost::any> : any_of_list<boost::any, boost_cast> {
	static void put(writer &w, const boost::any &v)
	{
		put_some(w, v, v.empty());
	}
};
#endif

#if __cplusplus >= 201703L
template <class T> struct std_cast {
	static const T *of(const std::any *v)
	{
		return std::any_cast<T>(v);
	}
};
template <> struct codec<std::any> : any_of_list<std::any, std_cast> {
	static void put(writer &w, const std::any &v)
	{
		put_some(w, v, !v.has_value());
	}
};
#endif

} // namespace fh_split

// SPDX-License-Identifier: MIT
// The test of a problem with cases: judge/formats/format_generic.c puts this text in front of a call of checkCases.
// Values compare by type and value (docs/data-sets.md); objects by their own keys.
const checkCases = (() => {
	const { isArray } = Array;
	const { keys, getPrototypeOf, prototype: plain } = Object;
	const has = Object.prototype.hasOwnProperty;
	const same = (got, wanted, tolerance) => {
		if (wanted === null || typeof wanted !== 'object') {
			if (typeof got !== typeof wanted)
				return false;
			return got === wanted || (typeof wanted === 'number' && tolerance > 0 &&
				Math.abs(got - wanted) <= tolerance * Math.max(1, Math.abs(wanted)));
		}
		if (got === null || typeof got !== 'object' || isArray(got) !== isArray(wanted))
			return false;
		if (isArray(wanted))
			return got.length === wanted.length && wanted.every((value, i) => same(got[i], value, tolerance));
		const prototype = getPrototypeOf(got); // a Map, a Date or an instance of a class has no keys that tell them apart
		if (prototype !== plain && prototype !== null)
			return false;
		const names = keys(got);
		return names.length === keys(wanted).length &&
			names.every((name) => has.call(wanted, name) && same(got[name], wanted[name], tolerance));
	};
	const check = (candidate, cases, tolerance) => {
		cases.forEach(([args, wanted], i) => {
			const got = candidate(...args);
			console.assert(same(got, wanted, tolerance), `case ${i + 1} of ${cases.length}`);
		});
	};
	return Object.assign(check, { same }); // one name only: an answer may stand in the same scope
})();

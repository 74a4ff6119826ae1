<?php
// SPDX-License-Identifier: MIT
// What a fork may have broken: files, randomness, the request's state.
function check(bool $holds, string $what): void
{
    if (!$holds) {
        echo $what, "\n";
        exit(1);
    }
}
check(is_resource(fopen($argv[0], 'r')), 'file');
check($argc === 1 && count($argv) === 1, 'arguments');
check(mt_rand() . mt_rand() !== mt_rand() . mt_rand(), 'mt_rand');
check(random_bytes(8) !== random_bytes(8), 'random_bytes');
check(abs(time() - $_SERVER['REQUEST_TIME']) < 20, 'time');
check(json_decode('{"a":1}', true) === ['a' => 1] && preg_match('/^a+$/', 'aaa') === 1, 'extensions');
echo "ok\n";

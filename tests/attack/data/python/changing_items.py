# SPDX-License-Identifier: MIT
# Gives an object that looks sorted by its indices and has all the numbers when it is iterated.
# class: equality
# task: in_order
    class Both:
        def __len__(self):
            return len(numbers)

        def __getitem__(self, index):
            return 0

        def __iter__(self):
            return iter(numbers)

    return Both()
# twin
    class Sorted:
        items = sorted(numbers)

        def __len__(self):
            return len(self.items)

        def __getitem__(self, index):
            return self.items[index]

    return Sorted()

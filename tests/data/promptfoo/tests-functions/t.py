def gen(config=None):
    return [{'vars': {'a': f'py{i}'}} for i in range((config or {}).get('n', 1))]
def generate_tests(config=None):
    return [{'vars': {'a': 'gt'}, 'assert': [{'type': 'equals', 'value': 'gt'}]}]

def get_var(name, prompt, other):
    return {'error': 'no such luck'}

def get_var(name, prompt, other):
    return {'output': ' py ' + name + str(len(prompt)) + ' '}

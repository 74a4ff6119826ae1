def make(config):
    return [{'vars': {'a': f"{i} {config['list'][i]}"}} for i in range(config['n'])]

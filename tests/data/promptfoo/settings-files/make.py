def made():
    return {'by': 'python'}

def get_config():
    return [1, 2]

def all_tools():
    return [{'type': 'function', 'function': {'name': 'get_weather', 'description': 'from python', 'parameters': {'type': 'object', 'properties': {'city': {'type': 'string'}, 'unit': {'type': 'string', 'enum': ['c', 'f']}}, 'required': ['city']}}}]

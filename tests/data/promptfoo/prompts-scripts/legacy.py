import json, sys
c = json.loads(sys.argv[1])
print('legacy', c['vars']['v'], c['provider']['label'])

import sys, json
c = json.loads(sys.argv[1])
print('exec', c['vars']['x'])

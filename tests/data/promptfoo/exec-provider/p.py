import sys, json
o = json.loads(sys.argv[2]); c = json.loads(sys.argv[3])
print(sys.argv[1], sorted(c.get('vars', {})))

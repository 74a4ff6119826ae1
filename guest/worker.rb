# SPDX-License-Identifier: MIT
# Calls the user's own ruby functions for fumehood (the protocol is in src/script/script.h).
#
# Descriptor 0 is a socket: JSON messages, each after its length in four bytes. What the called code prints goes to
# descriptors 1 and 2, which fumehood shows on its stderr. With the argument --once (inside a sandbox) there is one call:
# stdin is its message, stdout its answer.
require 'json'

ONCE = ARGV == ['--once']
if ONCE
  asked = $stdin.read
  channel = $stdout.dup
  $stdout.reopen($stderr)
else
  channel = IO.for_fd(0, 'r+b')
  channel.sync = true
  channel = channel.dup # Only the worker may read the channel, so the user's code gets an empty stdin.
end
channel.binmode
channel.sync = true
$stdin.reopen(File::NULL)
$stdout.sync = true

class Missing < StandardError; end

def send_message(channel, message)
  text = JSON.generate(message).b
  channel.write([text.bytesize].pack('N') + text)
end

def receive(channel)
  head = channel.read(4)
  exit!(0) if head.nil? || head.bytesize < 4
  text = channel.read(head.unpack1('N'))
  exit!(0) if text.nil?
  JSON.parse(text.force_encoding('UTF-8'), max_nesting: false)
end

SPACES = {}

# The object whose methods are the functions of a file or of inline code.
def space_of(key)
  SPACES[key] ||= begin
    space = Object.new
    yield space
    space
  end
end

# A single line is an expression to return; several lines are the body of a function.
def function_of_code(code, names)
  space = space_of([:code, code, names]) do |made|
    body = code.include?("\n") ? code : "return #{code}"
    made.instance_eval("def main(#{names.join(', ')})\n#{body}\nend\nself", '<inline>', 0)
  end
  space.method(:main)
end

def function_of_file(file, name)
  space = space_of([:file, file]) do |made|
    raise Missing, "there is no file #{file}" unless File.file?(file)

    $LOAD_PATH.unshift(File.dirname(file)) unless $LOAD_PATH.include?(File.dirname(file))
    made.instance_eval(File.read(file), file, 1)
  end
  return space.method(name) if space.respond_to?(name, true)

  owner, _, method = name.rpartition('.')
  found = owner.empty? ? nil : (space.singleton_class.const_get(owner.gsub('.', '::')) rescue nil)
  return found.method(method) if found.respond_to?(method)

  raise Missing, "there is no function '#{name}' in #{file}"
end

def answer(message)
  function = message['code'] ? function_of_code(message['code'], message['names']) : function_of_file(message['file'], message['function'])
  value = function.call(*message['args'])
  { outcome: 'returned', type: value.class.name, value: value }.tap { |reply| JSON.generate(reply) }
rescue Missing => e
  { outcome: 'missing', name: '', message: e.message, traceback: '' }
rescue SystemExit, StandardError, ScriptError, SystemStackError, NoMemoryError => e
  trace = [e.full_message(highlight: false)].join.lines.reject { |line| line.include?(__FILE__) }.join
  { outcome: 'threw', name: e.class.name, message: e.message.to_s, traceback: trace }
end

if ONCE
  channel.write(JSON.generate(answer(JSON.parse(asked, max_nesting: false))))
else
  send_message(channel, { ready: true })
  loop { send_message(channel, answer(receive(channel))) }
end

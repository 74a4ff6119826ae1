def get_assert(output, context)
  output == 'abc'
end
def named(output, context)
  { 'pass' => false, 'score' => 0.25, 'reason' => 'named' }
end

function throws(call, pattern)
% throws(call, pattern)   fails unless the call ends in an error of the toolbox whose message matches the pattern
  try
    call();
  catch thrown
    if isempty(strfind(thrown.identifier, 'stickslip:')) || isempty(regexp(thrown.message, pattern, 'once'))
      error('threw %s: %s', thrown.identifier, thrown.message);
    end
    return
  end
  error('did not throw: %s', pattern);
end

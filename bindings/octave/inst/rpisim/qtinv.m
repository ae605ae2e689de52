function r = qtinv(q)
% r = qtinv(q)   inverse of a quaternion of any length
%
% See also qtconj
  r = qtconj(q) / (q(:)' * q(:));
end

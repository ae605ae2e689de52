function result = rpisim_notes(what, id, name, value)
% rpisim_notes  What was asked for by calls like sim.setRecord(true), until sim_run takes it.
%
% id = rpisim_notes('new'), rpisim_notes('add', id, name, value), list = rpisim_notes('take', id)
  persistent notes last
  if isempty(last)
    last = 0;
    notes = struct('id', {}, 'name', {}, 'value', {});
  end
  switch what
    case 'new'
      last = last + 1;
      result = last;
    case 'add'
      notes(end + 1) = struct('id', id, 'name', name, 'value', {value});
    case 'take'
      mine = [notes.id] == id;
      result = notes(mine);
      notes(mine) = [];
  end
end
